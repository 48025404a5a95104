// Runs before the first paint, so that a dark page does not flash white.
"use strict";
try {
  const theme = localStorage.getItem("tongsa.theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {
  // Without storage, the system decides.
}

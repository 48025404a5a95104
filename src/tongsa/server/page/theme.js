// Before anything is drawn: a page that was dark yesterday must not flash white today.
"use strict";
try {
  const theme = localStorage.getItem("tongsa.theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {
  // No storage: the system's own choice holds.
}

// The language of the interface: which one, and how its texts are filled in.

export const LANGUAGES = { en: "English", ko: "한국어" };

// `speaker("ko", TEXTS)("file.done", {name})` says it in Korean; `texts` has an object of strings for each language.
export function speaker(language, texts) {
  const strings = texts[language];
  return (key, values = {}) => strings[key].replace(/\{(\w+)\}/g, (_, name) => String(values[name]));
}

export function preferred() {
  const asked = new URLSearchParams(location.search).get("lang") ?? remembered("tongsa.language");
  if (asked in LANGUAGES) return asked;
  const first = navigator.languages.map((tag) => tag.slice(0, 2)).find((tag) => tag in LANGUAGES);
  return first ?? "en";
}

// A page in a sandbox has no storage, and does without.
export function remembered(key) {
  try {
    return localStorage.getItem(key) ?? "";
  } catch {
    return "";
  }
}

export function remember(key, value) {
  try {
    localStorage.setItem(key, value);
  } catch {
    // The choice lasts as long as the page.
  }
}

// The name of a language in the language of the page, where the browser knows it.
export function languageName(code, fallback, language) {
  try {
    return new Intl.DisplayNames([language], { type: "language", fallback: "none" }).of(code) ?? fallback;
  } catch {
    return fallback;
  }
}

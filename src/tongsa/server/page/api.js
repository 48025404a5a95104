// Calls of the HTTP interface. An error has a kind, so that the page can explain it.

export class ApiError extends Error {
  // kind: busy (after `seconds`), offline, unreachable, key, server, refused
  constructor(kind, message = "", seconds = 0) {
    super(message);
    this.kind = kind;
    this.seconds = seconds;
  }
}

let key = "";

export function useKey(given) {
  key = given;
}

export async function languages() {
  return ask("languages");
}

export async function settings() {
  return ask("frontend/settings");
}

export async function translate(values, signal) {
  return post("translate", { ...values, format: "text", alternatives: 3, confidence: true }, signal);
}

export async function attention(values, signal) {
  return post("api/attention", values, signal);
}

// An experiment with the model: interventions, beam, training or numbers.
export async function experiment(name, values) {
  return post(`api/${name}`, values);
}

// The address of the translated file; an address outside this service is refused.
export async function translateFile(file, source, target, signal) {
  const body = new FormData();
  body.append("file", file);
  body.append("source", source);
  body.append("target", target);
  if (key) body.append("api_key", key);
  const { translatedFileUrl } = await ask("translate_file", { method: "POST", body, signal });
  const url = new URL(translatedFileUrl, location.href);
  if (!/^https?:$/.test(url.protocol) || !url.pathname.includes("/download_file/")) throw new ApiError("server");
  return new URL(url.pathname.slice(url.pathname.indexOf("/download_file/") + 1), document.baseURI).href;
}

function post(path, values, signal) {
  const body = JSON.stringify(key ? { ...values, api_key: key } : values);
  return ask(path, { method: "POST", headers: { "Content-Type": "application/json" }, body, signal });
}

async function ask(path, options = {}) {
  let answer;
  try {
    answer = await fetch(path, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiError(navigator.onLine ? "unreachable" : "offline");
  }
  const values = await answer.json().catch((error) => {
    if (error.name === "AbortError") throw error;
    return {};
  });
  if (answer.ok) return values;
  throw apiError(answer, typeof values?.error === "string" ? values.error : "");
}

function apiError(answer, message) {
  if (answer.status === 429 || answer.status === 503) {
    const seconds = Number(answer.headers.get("Retry-After"));
    return new ApiError("busy", message, Number.isFinite(seconds) && seconds > 0 ? Math.min(seconds, 120) : 3);
  }
  if (answer.status === 401 || answer.status === 403) return new ApiError("key", message);
  return new ApiError(answer.status >= 500 || !message ? "server" : "refused", message);
}

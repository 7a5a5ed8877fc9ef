// Talks to the worker. Every failure is an ApiError whose message names the fix.

export class ApiError extends Error {
  constructor(status, code, message, field) {
    super(forPeople(message));
    Object.assign(this, { status, code, field });
  }
}

/** Some sentences tell a program which route to take. */
const forPeople = (message) =>
  message
    .replace(/^[A-Z]+ \/\S+: /, "")
    .split(/(?<=\.)\s+/)
    .filter((each) => !/\b(GET|POST|PUT|PATCH|DELETE) \//.test(each))
    .join(" ");

/** @param {Record<string, any>} [query] empty values are left out */
export function url(path, query) {
  const pairs = Object.entries(query || {}).filter(([, v]) => (v ?? "") !== "" && v !== false);
  const text = new URLSearchParams(pairs.map(([key, v]) => [key, String(v)])).toString();
  return text ? `${path}?${text}` : path;
}

async function call(method, path, { query, body, signal } = {}) {
  const headers = { Accept: "application/json" };
  if (method !== "GET") Object.assign(headers, { "Content-Type": "application/json", "X-Aforesaid": "1" });
  let answer, data;
  try {
    answer = await fetch(url(path, query), {
      method,
      headers,
      signal,
      credentials: "same-origin",
      body: method === "GET" ? undefined : JSON.stringify(body ?? {}),
    });
    data = await answer.json().catch((error) => {
      if (answer.ok || error.name === "AbortError") throw error; // it was cut off
      return null;
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiError(0, "away", "The worker does not answer. Start it with `aforesaid open`.");
  }
  if (answer.ok) return data;
  const error = data?.error ?? {};
  const fallback =
    answer.status === 401
      ? "This page is no longer signed in. Open it again with `aforesaid open`."
      : `The worker answered ${answer.status}.`;
  throw new ApiError(answer.status, error.code ?? "error", error.message ?? fallback, error.field ?? null);
}

export const get = (path, query, signal) => call("GET", path, { query, signal });
export const post = (path, body, query) => call("POST", path, { body, query });
export const put = (path, body, query) => call("PUT", path, { body, query });
export const patch = (path, body, query) => call("PATCH", path, { body, query });
export const remove = (path, query, body) => call("DELETE", path, { query, body });

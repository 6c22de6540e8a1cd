// Requests to the server of this page. The token stays in this tab; another tab of the page may ask for it.
import { parsed } from "./format.js";

const KEY = "token";
const channel = new BroadcastChannel("tureen-token");
let token = sessionStorage.getItem(KEY);

channel.onmessage = ({ data }) => {
  if (data === "who has it?" && token) channel.postMessage({ token });
};

/** Takes the token out of the address, so that it is in no bookmark. */
function fromAddress() {
  const found = /^#t=([\w-]{20,})$/.exec(location.hash);
  if (!found) return null;
  history.replaceState(null, "", `${location.pathname}#/overview`);
  return found[1];
}

/** Asks the other tabs. */
const fromOthers = () => new Promise((resolve) => {
  const done = (result) => { channel.removeEventListener("message", hear); clearTimeout(timer); resolve(result); };
  const hear = ({ data }) => { if (data?.token) done(data.token); };
  const timer = setTimeout(() => done(null), 400);
  channel.addEventListener("message", hear);
  channel.postMessage("who has it?");
});

/** Finds the token. Returns whether there is one. */
export async function signIn() {
  token = fromAddress() ?? token ?? await fromOthers();
  if (token) sessionStorage.setItem(KEY, token);
  return token !== null;
}

export class ApiError extends Error {
  constructor(status, body) {
    super(body?.message ?? `the inspector answered ${status}`);
    this.status = status;
    this.code = body?.code ?? "";
    this.domain = body?.domain ?? "";
  }
}

/** The inspector does not answer. */
export class Unreachable extends Error {}

export const authorized = (headers = {}) => ({ ...headers, Authorization: `Bearer ${token}` });

async function ask(path, options = {}) {
  let answer;
  try {
    answer = await fetch(`/api/v1/${path}`, { ...options, headers: authorized(options.headers) });
  } catch {
    throw new Unreachable("The inspector does not answer. It may have been ended; run tureen inspect again.");
  }
  const text = await answer.text();
  const body = text ? parsed(text) : null;
  if (!answer.ok) throw new ApiError(answer.status, body);
  return { body, text, tag: answer.headers.get("etag") };
}

export const get = async (path) => (await ask(path)).body;
export const getTagged = (path) => ask(path);
export const post = async (path, body, headers = {}) =>
  (await ask(path, { method: "POST", body: JSON.stringify(body), headers: { ...headers, "Content-Type": "application/json" } })).body;

const part = encodeURIComponent;
export const of = (store, ...parts) => ["stores", store, ...parts].map((one) => part(String(one))).join("/");
export const withQuery = (path, values) => {
  const query = Object.entries(values).filter(([, v]) => v !== undefined && v !== null && v !== "").map(([k, v]) => `${part(k)}=${part(v)}`);
  return query.length ? `${path}?${query.join("&")}` : path;
};

// A change of the index, from the request to the version that it makes: for the tabs “Corpus” and “Teach”.

import { UNREACHABLE, ask, element } from "./dom.js";

const END_STATES = ["succeeded", "failed", "cancelled"];
const POLL_PAUSE = 500; // milliseconds between two looks at a job
const NO_KEY = { title: "Not an admin key", detail: "The service does not accept this key for changes: see its setting admin_keys." };

export function askAdmin(key, path, body) {
  return ask(path, body, undefined, { "X-API-Key": key });
}

// Sends a change and calls `show` with its job whenever it is looked at; returns the job once it has ended.
export async function runJob(key, change, show) {
  let job = await askAdmin(key, "admin/jobs", change);
  const { workers } = await askAdmin(key, "admin/jobs");
  for (;;) {
    show(job, workers);
    if (END_STATES.includes(job.state)) return job;
    await new Promise((later) => { setTimeout(later, POLL_PAUSE); });
    job = await askAdmin(key, `admin/jobs/${job.id}`);
  }
}

export function waiting({ stage }, workers) {
  return stage ? null : `Waiting for a worker${workers ? " …" : ". None is running: start “passepartout jobs”."}`;
}

export function problemView(error) {
  const { title, detail } = (error.problem?.status === 401 && NO_KEY) || error.problem || UNREACHABLE;
  return element("div", { class: "problem", role: "alert" }, element("h3", {}, title ?? "Something went wrong"),
    element("p", {}, detail ?? "The service gave no reason."));
}

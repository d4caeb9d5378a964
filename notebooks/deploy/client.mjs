// One visit of one user, in a browser or in Node: ask for an arm, try it, hide the
// reward in one bit, tell that bit. One file, no packages:
//
//     import { visit } from "./client.mjs";
//     await visit(url, async ({ arm, point }) => reward, { eps: 2 });
//
// The reward never leaves this program. A report is made once: a client that gets no
// answer sends the same report again, since a second one of the same reward would spend
// eps twice. What the server says of the curator is not trusted: a curator that would
// reveal more than eps is refused.
//
// client.py is the same for Python; vectors.json has inputs and the reports of both. In
// Node from version 20 on. A page of another origin needs the server's option --origin.

const AWAY = [502, 503, 504]; // a server that is busy or being started: try again
const GONE = 410;
const ROUNDING = 2 ** -51; // of what the curator reveals

/** The server refuses, or is refused: a status (0: by this client), and why. */
export class Refused extends Error {
  constructor(status, why) {
    super(why);
    this.status = status;
  }
}

/** The probability of the higher report; it is right to 2^-53. */
export function chance(reward, { centre, bound, scale }) {
  const away = Math.min(Math.max(reward - centre, -bound), bound);
  return (1 + away / scale) / 2;
}

/** 64 random bits of the system, a BigInt. */
export function systemBits() {
  return crypto.getRandomValues(new BigUint64Array(1))[0];
}

/**
 * The one-bit report of a reward: centre + scale or centre - scale.
 *
 * A BigInt is compared with a double exactly, so the probability moves by less than
 * 2^-64.
 */
export function report(reward, curator, draw = systemBits()) {
  if (!Number.isFinite(reward)) {
    throw new RangeError(`reward = ${reward}: must be a finite number`);
  }
  const high = draw < chance(reward, curator) * 2 ** 64;
  return high ? curator.centre + curator.scale : curator.centre - curator.scale;
}

/** Refuse a curator whose report would reveal more than eps. */
export function checkCurator(curator, eps) {
  const { centre, bound, scale } = curator;
  const numbers = [centre, bound, scale].every(Number.isFinite);
  const most = scale * (Math.tanh(eps / 2) + ROUNDING); // odds are within e^{+-eps}
  if (!(numbers && 0 < bound && bound <= most)) {
    const given = JSON.stringify(curator);
    const wanted = `must be a one-bit curator of eps <= ${eps}`;
    throw new Refused(0, `curator = ${given}: ${wanted}`);
  }
}

/** The server's answer; the call is made again while the server is away or busy. */
export async function call(url, body, patience = 60) {
  const end = Date.now() + 1000 * patience;
  const posted = { method: "POST", body: JSON.stringify(body) };
  const request = body === undefined ? {} : posted;
  for (let wait = 20; ; wait = Math.min(2 * wait, 1000)) {
    try {
      const signal = AbortSignal.timeout(10_000);
      const answer = await fetch(url, { ...request, signal });
      const text = await answer.text();
      if (answer.ok) return JSON.parse(text);
      const away = AWAY.includes(answer.status);
      if (!away || Date.now() > end) throw new Refused(answer.status, text);
    } catch (error) {
      if (error instanceof Refused || Date.now() > end) throw error;
    }
    const pause = wait * (0.5 + Math.random()); // not all at once
    await new Promise((wake) => setTimeout(wake, pause));
  }
}

/** A ticket, an arm and its curator; null when the experiment is over. */
export async function ask(url, patience) {
  // the server knows a repeated question by this word
  const word = systemBits().toString(16) + systemBits().toString(16);
  try {
    return await call(`${url}/ask?visit=${word}`, undefined, patience);
  } catch (error) {
    if (error.status === GONE) return null;
    throw error;
  }
}

/** The report is counted once, however often it is sent -> "counted", or "late". */
export async function tell(url, ticket, told, patience) {
  try {
    await call(`${url}/tell`, { ticket, report: told }, patience);
    return "counted";
  } catch (error) {
    if (error.status === GONE) return "late";
    throw error;
  }
}

/**
 * One user comes and goes -> "counted", "late" (after the lease), or "over".
 *
 * measure: what the user's device does, from the server's answer to a reward, or to a
 * promise of one.
 * eps: what the user was promised.
 */
export async function visit(url, measure, { eps, patience } = {}) {
  const asked = await ask(url, patience);
  if (asked === null) return "over";
  checkCurator(asked.curator, eps);
  const told = report(await measure(asked), asked.curator);
  return tell(url, asked.ticket, told, patience);
}

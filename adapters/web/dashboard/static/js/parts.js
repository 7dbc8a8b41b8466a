// The parts of an upload, and how often each is sent.

/** The parts of a file: where each begins and ends.
 * @param {number} size
 * @param {number} partSize
 * @returns {{ number: number, start: number, end: number }[]} */
export function parts(size, partSize) {
  const all = [];
  for (let start = 0; start < size; start += partSize) {
    all.push({ number: all.length + 1, start, end: Math.min(start + partSize, size) });
  }
  return all;
}

const tries = 5;

/** Calls send until it succeeds. What the server refuses is not sent again.
 * @template T
 * @param {() => Promise<T>} send
 * @param {(milliseconds: number) => Promise<void>} pause
 * @returns {Promise<T>} */
export async function persist(send, pause) {
  for (let n = 1; ; n++) {
    try {
      return await send();
    } catch (error) {
      if (error instanceof Refused || n === tries) throw error;
      await pause(250 * 2 ** n);
    }
  }
}

/** Why the server does not take something, in words. */
export class Refused extends Error {}

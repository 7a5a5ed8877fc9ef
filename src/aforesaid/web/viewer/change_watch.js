// Detects that the displayed item was changed or removed elsewhere. Own removals are not reported.
import { again } from "./router.js";

export class Watching {
  #leaving = false;

  /** @param {{pill: any, read: () => Promise<any>, same: (now: any) => boolean, gone: string}} how */
  constructor(how) {
    this.how = how;
  }

  look = async () => {
    const { pill, read, same, gone } = this.how;
    if (this.#leaving) return;
    const now = await read().catch((error) => error);
    if (now.status === 404) pill.offer(`${gone}: reload`, again);
    else if (!(now instanceof Error) && !same(now)) pill.offer("Changed: reload", again);
  };

  /** @param {() => Promise<any>} deed that takes it away */
  async leaving(deed) {
    this.#leaving = true;
    try {
      return await deed();
    } catch (error) {
      this.#leaving = false;
      throw error;
    }
  }
}

// Whether what is shown is still so. Who takes it away is not told that it is gone.
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
    if (now.status === 404) pill.offer(`${gone}: show`, again);
    else if (!(now instanceof Error) && !same(now)) pill.offer("It was changed: show", again);
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

import { withinGrace } from '../kernel/abortable.ts'

/** How long stopping may take in all: twice what every step of a stop may take that goes well on a busy machine. */
const STOP_WITHIN_MS = 15_000

/** What a stopper needs of the process. */
export type StoppableProcess = {
  on(signal: NodeJS.Signals, listener: () => void): unknown
  exit(code: number): void
  /** One line for the operator; those of the second kind say that something went wrong. */
  say(line: string): void
  complain(problem: unknown): void
}

export type Stopper = {
  /** Aborted as soon as the process is to end: long steps of starting give up for it. */
  readonly signal: AbortSignal
  /** Registers what to undo; undone in reverse order. */
  last(undo: () => Promise<void>): void
  /**
   * The work of starting. A stop that is asked for meanwhile first waits for it to settle, then undoes what it got to.
   * @throws what the work throws, after undoing, unless that was because of the stop; the caller tells it and ends the
   *   process, also when a stop is asked for while it is undone
   */
  start(work: () => Promise<void>): Promise<void>
  /** Undoes everything and ends the process with this code, or with 1 where something went wrong. */
  stop(reason: string, code: number): void
}

const OF_THIS_PROCESS: StoppableProcess = {
  on: (signal, listener) => process.on(signal, listener),
  exit: (code) => process.exit(code),
  say: (line) => console.log(line),
  complain: (problem) => console.error(problem),
}

/**
 * How the process ends. First signal: stop taking work, finish what runs, stop the database. Second signal: leave at
 * once. Whatever hangs, it ends within `withinMs`: everything acknowledged is on disk by then, and the next start
 * recovers the rest.
 */
export function createStopper(target: StoppableProcess = OF_THIS_PROCESS, withinMs: number = STOP_WITHIN_MS): Stopper {
  const undos: (() => Promise<void>)[] = []
  const stopping = new AbortController()
  let starting: Promise<unknown> = Promise.resolve()
  let undoing: Promise<boolean> | null = null
  let failed = false
  const tooLong = `Stopping took longer than ${withinMs / 1000} s: leaving now. The next start recovers.`

  /** Whether all went well. */
  const undo = (): Promise<boolean> => {
    undoing ??= (async () => {
      let well = true
      for (let next = undos.pop(); next !== undefined; next = undos.pop()) {
        try {
          await next()
        } catch (error) {
          target.complain(error)
          well = false
        }
      }
      return well
    })()
    return undoing
  }

  const stop = (reason: string, code: number): void => {
    if (stopping.signal.aborted) return
    target.say(reason)
    stopping.abort()
    // It is being undone, and ends with the failure, not with this code.
    if (failed) return
    const lastResort = setTimeout(() => {
      target.complain(tooLong)
      target.exit(1)
    }, withinMs)
    void starting
      .catch(() => {})
      .then(undo)
      .then((well) => {
        clearTimeout(lastResort)
        target.exit(well ? code : 1)
      })
  }

  let signals = 0
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    target.on(signal, () => {
      if (++signals > 1) target.exit(130)
      else stop('Stopping. Once more to leave at once.', 0)
    })
  }

  return {
    signal: stopping.signal,
    last: (work) => void undos.push(work),
    async start(work) {
      const running = work()
      starting = running
      try {
        await running
      } catch (error) {
        // Then it ended because of the stop, or its failure no longer matters to anybody.
        if (stopping.signal.aborted) return
        failed = true
        if (!(await withinGrace(withinMs, undo()))) target.complain(tooLong)
        throw error
      }
    },
    stop,
  }
}

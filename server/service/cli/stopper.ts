import { withinGrace } from '../../platform/kernel/abortable.ts'

/** Time limit of a stop: twice what a regular stop takes on a busy machine. */
const STOP_WITHIN_MS = 15_000

/** The part of the process that a stopper uses. */
type StoppableProcess = {
  on(signal: NodeJS.Signals, listener: () => void): unknown
  exit(code: number): void
  /** Prints a line for the operator: to standard output, and problems to standard error. */
  print(line: string): void
  printError(problem: unknown): void
}

export type Stopper = {
  /** Aborted when a stop begins. Long steps of starting end early. */
  readonly signal: AbortSignal
  /** Registers a step of the stop. The last one registered runs first. */
  onStop(undo: () => Promise<void>): void
  /**
   * Runs the work of starting. A stop that begins meanwhile waits for it to settle, then undoes it.
   * @throws the error of the work, after undoing it, unless a stop caused the error. The caller prints it and ends the
   *   process, also when a stop begins during the undoing
   */
  start(work: () => Promise<void>): Promise<void>
  /** Undoes everything and ends the process with this code, or with 1 after a failure. */
  stop(reason: string, code: number): void
}

const OF_THIS_PROCESS: StoppableProcess = {
  on: (signal, listener) => process.on(signal, listener),
  exit: (code) => process.exit(code),
  print: (line) => console.log(line),
  printError: (problem) => console.error(problem),
}

/**
 * Ends the process. First signal: accept no more work, finish what runs, stop the database. Second signal: exit
 * immediately. It exits after `withinMs` in any case: acknowledged data is on disk, and the next start recovers the rest.
 * `signalCode` is the exit code after a signal: work that must be complete ends with another one than 0.
 */
export function createStopper(
  target: StoppableProcess = OF_THIS_PROCESS,
  withinMs: number = STOP_WITHIN_MS,
  { signalCode = 0 }: { readonly signalCode?: number } = {},
): Stopper {
  const undos: (() => Promise<void>)[] = []
  const stopping = new AbortController()
  let starting: Promise<unknown> = Promise.resolve()
  let undoing: Promise<boolean> | null = null
  let failed = false
  const tooLong = `Stopping took longer than ${withinMs / 1000} s. Exiting now; the next start recovers.`

  /** @returns whether every step succeeded */
  const undo = (): Promise<boolean> => {
    undoing ??= (async () => {
      let succeeded = true
      for (let next = undos.pop(); next !== undefined; next = undos.pop()) {
        try {
          await next()
        } catch (error) {
          target.printError(error)
          succeeded = false
        }
      }
      return succeeded
    })()
    return undoing
  }

  const stop = (reason: string, code: number): void => {
    if (stopping.signal.aborted) return
    target.print(reason)
    stopping.abort()
    // A failed start is being undone: the process ends with that failure, not with this code.
    if (failed) return
    const lastResort = setTimeout(() => {
      target.printError(tooLong)
      target.exit(1)
    }, withinMs)
    void starting
      .catch(() => {})
      .then(undo)
      .then((succeeded) => {
        clearTimeout(lastResort)
        target.exit(succeeded ? code : 1)
      })
  }

  let signals = 0
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    target.on(signal, () => {
      if (++signals > 1) target.exit(130)
      else stop('Stopping. Send the signal again (Ctrl+C) to exit immediately.', signalCode)
    })
  }

  return {
    signal: stopping.signal,
    onStop: (work) => void undos.push(work),
    async start(work) {
      const running = work()
      starting = running
      try {
        await running
      } catch (error) {
        // The stop caused the error, or made it irrelevant.
        if (stopping.signal.aborted) return
        failed = true
        if (!(await withinGrace(withinMs, undo()))) target.printError(tooLong)
        throw error
      }
    },
    stop,
  }
}

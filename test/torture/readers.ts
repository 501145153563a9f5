import { setTimeout as delay } from 'node:timers/promises'

export type Reading = {
  readonly all: number
  readonly ok: number
  /** Longest time without a page. */
  readonly gapMs: number
  readonly slowestMs: number
  /** Statuses other than 200; 0 for none within 40 s. */
  readonly others: ReadonlyMap<number, number>
}

export type Readers = {
  /** When a page last loaded, by performance.now(). */
  lastOkMs(): number
  /** Resets the figures. */
  begin(): void
  end(): Reading
  stop(): void
}

const EVERY_MS = 200
const PATIENCE_MS = 40_000
const PATHS = ['/api/issues?limit=10', '/api/projects', '/api/me']

/**
 * Members who look at the dashboard all the time.
 * @param cookie a function where sessions end meanwhile
 */
export function watchReaders(url: string, cookie: string | (() => string), paths = PATHS): Readers {
  let stopped = false
  let all = 0
  let ok = 0
  let gapMs = 0
  let slowestMs = 0
  let lastOkMs = performance.now()
  let others = new Map<number, number>()

  const read = async (path: string): Promise<void> => {
    const startedMs = performance.now()
    let status = 0
    try {
      const answer = await fetch(url + path, {
        headers: { cookie: typeof cookie === 'string' ? cookie : cookie() },
        signal: AbortSignal.timeout(PATIENCE_MS),
      })
      await answer.arrayBuffer()
      status = answer.status
    } catch {
      // Counted as no answer.
    }
    const nowMs = performance.now()
    all++
    slowestMs = Math.max(slowestMs, nowMs - startedMs)
    if (status === 200) {
      ok++
      gapMs = Math.max(gapMs, nowMs - lastOkMs)
      lastOkMs = nowMs
    } else others.set(status, (others.get(status) ?? 0) + 1)
  }
  const loop = async (): Promise<void> => {
    for (let i = 0; !stopped; i++) {
      await read(paths[i % paths.length] ?? '/')
      await delay(EVERY_MS)
    }
  }
  void loop()

  return {
    lastOkMs: () => lastOkMs,
    begin() {
      all = ok = gapMs = slowestMs = 0
      lastOkMs = performance.now()
      others = new Map()
    },
    end: () => ({ all, ok, gapMs: Math.max(gapMs, performance.now() - lastOkMs), slowestMs, others }),
    stop() {
      stopped = true
    },
  }
}

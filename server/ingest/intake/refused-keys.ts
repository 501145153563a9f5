import type { App } from '../../platform/context/app.ts'
import { writeRegularly } from '../limits/regular-writes.ts'
import { writeRefusals } from '../../projects/registry/recording.queries.ts'
import type { RefusalReason } from '../../projects/registry/projects.api.ts'

/** Onboarding shows a refused request within two seconds. */
const WRITE_EVERY_MS = 500
/** One write per project and minute: anyone may send requests with a wrong key. */
const REFUSED_EVERY_MS = 60_000
const MAX_PROJECTS = 1_000

export type RefusedKeys = {
  /** Records that a request to this project was refused because of its key; written in the background. */
  mark(projectNumber: string | null, reason: RefusalReason): void
  close(): Promise<void>
}

/** Remembers when and why requests of projects were refused because of their key. Not counted: the key is no secret. */
export function createRefusedKeys(app: App): RefusedKeys {
  let due = new Map<number, { reason: RefusalReason; at: Date }>()
  const writtenAtMs = new Map<number, number>()

  const write = async (): Promise<void> => {
    if (due.size === 0) return
    const batch = due
    due = new Map()
    const nowMs = app.clock.monotonicMs()
    for (const number of batch.keys()) writtenAtMs.set(number, nowMs)
    await writeRefusals(
      app.db,
      [...batch].map(([number, refusal]) => ({ number, ...refusal })),
    )
  }
  const wasWritten = (number: number): boolean => {
    const atMs = writtenAtMs.get(number)
    return atMs !== undefined && app.clock.monotonicMs() - atMs < REFUSED_EVERY_MS
  }
  const { close } = writeRegularly(app, { everyMs: WRITE_EVERY_MS, failed: 'refused keys not written', write })

  return {
    mark(projectNumber, reason) {
      const number = Number(projectNumber)
      if (projectNumber === null || !Number.isSafeInteger(number) || number > 2 ** 31 - 1) return
      if (wasWritten(number) || due.size >= MAX_PROJECTS) return
      // Numbers can be made up: those of the past are forgotten together.
      if (writtenAtMs.size >= 10 * MAX_PROJECTS) writtenAtMs.clear()
      due.set(number, { reason, at: app.clock.now() })
    },
    close,
  }
}

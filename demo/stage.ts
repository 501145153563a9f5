import { evaluateRules } from '#server/alerts/evaluation/evaluate-rules.ts'
import { readConfig } from '#server/config/config.ts'
import type { Mail } from '#server/platform/context/mail.ts'
import { mailChannel } from '#server/platform/mails/mail-channel.ts'
import { createApp } from '#server/service/app.ts'
import { migrateDatabase, openDatabase } from '#server/service/cli/database.ts'
import { startService } from '#server/service/cli/service.ts'

/** A service of its own, whose clock the story moves: what is sent gets the times of the story, as if it had run then. */
export type Stage = {
  readonly url: string
  /** Mails sent so far; nothing leaves the process. */
  readonly mails: readonly Mail[]
  moveTo(ms: number): void
  /** Records what was sent. */
  settle(): Promise<void>
  /** Evaluates the rules that look at measured values, as each minute does. */
  evaluate(): Promise<void>
  close(): Promise<void>
}

/**
 * @param startMs where the clock stands at first
 * @param print takes a line of progress
 */
export async function openStage(dataDir: string, startMs: number, print: (line: string) => void): Promise<Stage> {
  const config = readConfig({
    FAULTLINE_DATA_DIR: dataDir,
    PORT: '0',
    LOG_LEVEL: 'error',
    RATE_LIMIT_SCALE: '0',
    FAULTLINE_CANARY_MINUTES: '0',
  })
  const database = await openDatabase(config, print)
  const closers = [() => database.stop()]
  const close = async (): Promise<void> => {
    for (const step of closers.toReversed()) await step()
  }
  try {
    await migrateDatabase(database.connectionString, () => {})
    let nowMs = startMs
    const mails: Mail[] = []
    const app = await createApp(config, database.connectionString, 10, 'demo', {
      clock: { now: () => new Date(nowMs), monotonicMs: () => performance.now() },
      mail: {
        send: (mail) => {
          mails.push(mail)
          return Promise.resolve()
        },
      },
    })
    closers.push(() => app.close())
    const service = await startService(app, database.connectionString, {
      digestion: 'manual',
      jobs: false,
      canary: null,
      channels: [mailChannel],
    })
    closers.push(() => service.close())
    return {
      url: service.publicUrl,
      mails,
      moveTo: (ms) => {
        nowMs = Math.max(nowMs, ms)
      },
      settle: () => service.drain(),
      evaluate: () => evaluateRules(app, new AbortController().signal),
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

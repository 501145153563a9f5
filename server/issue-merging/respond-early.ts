import type { App } from '../context/app.ts'
import { unavailable } from '../kernel/errors.ts'

/** Below the time limit of requests (`http/bind.ts`), whose error does not say that the work continues. */
const WAIT_MS = 10_000

/**
 * Waits for work for a limited time; then responds early while the work continues in the background. Live messages
 * report its end.
 * @param operation its name in messages: `Merging`
 * @throws AppError unavailable when the work takes longer than `waitMs`
 */
export async function respondEarly<T>(app: App, operation: string, work: Promise<T>, waitMs = WAIT_MS): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      work.catch((error: unknown) =>
        app.log.error({ err: error }, `${operation.toLowerCase()} failed in the background`),
      )
      reject(
        unavailable(
          `${operation} continues in the background, because these issues have very many users. Look again in a minute; do not repeat the request.`,
          60,
        ),
      )
    }, waitMs)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}

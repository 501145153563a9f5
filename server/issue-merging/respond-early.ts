import type { App } from '../context/app.ts'
import { unavailable } from '../kernel/errors.ts'

/** Less than the waiting for any answer may take (`http/bind.ts`), which says nothing about what becomes of the work. */
const PATIENCE_MS = 10_000

/**
 * Waits for work that goes on whether somebody waits or not. Open dashboards hear of its end.
 * @param doing what it does, for people: `Merging`
 * @throws AppError unavailable when it takes too long to wait for
 */
export async function respondEarly<T>(app: App, doing: string, work: Promise<T>, patienceMs = PATIENCE_MS): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      work.catch((error: unknown) => app.log.error({ err: error }, `${doing.toLowerCase()} failed behind the scenes`))
      reject(
        unavailable(
          `${doing} goes on: these issues have very many users. Look again in a minute; do not repeat it.`,
          60,
        ),
      )
    }, patienceMs)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}

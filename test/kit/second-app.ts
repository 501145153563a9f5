import { createApp } from '#server/service/app.ts'
import type { App } from '#server/platform/context/app.ts'
import type { TestApp } from './test-app.ts'

/** An app that the database sees as another process: separate pool, bus and caches. */
export async function secondApp(t: TestApp): Promise<App> {
  const { app } = t
  const { clock, log, mail, passwords } = app
  const second = await createApp(app.config, t.connectionString, 6, 'second', { clock, log, mail, passwords })
  t.onClose(() => second.close())
  return second
}

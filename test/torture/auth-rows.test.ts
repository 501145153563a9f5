import { expect, test } from 'vitest'
import { startService } from '#server/cli/service.ts'
import { secondApp } from '#test/kit/second-app.ts'
import { testServer } from '#test/kit/test-server.ts'
import { type AuthWorld, timesOf } from './auth-rows.ts'
import { loadAuthRows } from './auth.ts'

/** The short form of every row of `npm run torture -- auth`, against two services in this process. */

const SEED = 20_261_123

for (const row of await loadAuthRows()) {
  const t = await testServer({ realTime: true, env: { RATE_LIMIT_SCALE: '0', ...row.env } })
  const second = await startService(await secondApp(t), t.connectionString, {
    digestion: 'manual',
    jobs: false,
    channels: [],
  })
  t.onClose(() => second.close())
  const world: AuthWorld = {
    app: t.app,
    connectionString: t.connectionString,
    urls: [t.url, second.publicUrl],
    logs: () => t.logLines.map((line) => JSON.stringify(line)).join('\n'),
    form: 'short',
    seed: SEED,
    times: timesOf('short'),
  }
  test(`${row.id}: ${row.summary}`, async () => {
    const claims = await row.run(world)
    expect(claims).not.toEqual([])
    expect(claims.filter(({ holds }) => !holds)).toEqual([])
  })
}

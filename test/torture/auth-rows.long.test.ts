import { expect, test } from 'vitest'
import { startService } from '#server/service/cli/service.ts'
import { secondApp } from '#test/kit/second-app.ts'
import { testServer, type TestServer } from '#test/kit/test-server.ts'
import { type AuthWorld, timesOf } from './auth-rows.ts'
import { loadAuthRows } from './auth.ts'

/** The short form of every row of `npm run torture -- auth`, against two services in this process. */

const SEED = 20_261_123

type Pair = { readonly t: TestServer; readonly second: Awaited<ReturnType<typeof startService>> }
const pairs = new Map<string, Pair>()

/** Rows with the same settings share their two services: each pair takes connections of the one database server. */
async function pairFor(env: Readonly<Record<string, string>> = {}): Promise<Pair> {
  const key = JSON.stringify(env)
  const known = pairs.get(key)
  if (known !== undefined) return known
  const t = await testServer({ realTime: true, env: { RATE_LIMIT_SCALE: '0', ...env } })
  const second = await startService(await secondApp(t), t.connectionString, {
    digestion: 'manual',
    jobs: false,
    channels: [],
  })
  t.onClose(() => second.close())
  const pair = { t, second }
  pairs.set(key, pair)
  return pair
}

for (const row of await loadAuthRows()) {
  const { t, second } = await pairFor(row.env)
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

import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Service, startService } from '#bench/service.ts'
import { createApp } from '#server/service/app.ts'
import { createPasswordHasher } from '#server/identity/auth/password-hasher.ts'
import { migrateDatabase } from '#server/service/cli/database.ts'
import { readConfig } from '#server/config/config.ts'
import { startEmbeddedPostgres } from '#server/platform/embedded-postgres/start.ts'
import { freePort } from '../kit/free-port.ts'
import { type AuthRow, timesOf } from './auth-rows.ts'
import { claim, print, type Claim, type TortureArgs, type Verdict } from './torture.ts'

/** The rows of every `auth-<topic>.ts` beside this file, ordered by id. */
export async function loadAuthRows(): Promise<AuthRow[]> {
  const files = readdirSync(import.meta.dirname).filter(
    (name) => /^auth-[a-z-]+\.ts$/.test(name) && name !== 'auth-rows.ts',
  )
  const modules = await Promise.all(
    files.map((name) => import(join(import.meta.dirname, name)) as Promise<{ rows: readonly AuthRow[] }>),
  )
  return modules.flatMap(({ rows }) => rows).toSorted((a, b) => (a.id < b.id ? -1 : 1))
}

/** `npm run torture -- auth`: every row on a database of its own, against two service processes. */
export async function auth({ seed, full, options }: TortureArgs): Promise<Verdict> {
  const rows = (await loadAuthRows()).filter(({ id }) => options['row'] === undefined || options['row'] === id)
  const claims: Claim[] = []
  for (const row of rows) {
    const startedMs = performance.now()
    print(`  ${row.id} ${row.summary}`)
    const found = await onTwoServices(row, seed, full).catch((error: unknown) => {
      process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`)
      return [claim('to run to its end', 'it failed', false)]
    })
    print(`  ${row.id}: ${((performance.now() - startedMs) / 1000).toFixed(0)} s`)
    claims.push(...found.map((one) => ({ ...one, asked: `${row.id}: ${one.asked}` })))
  }
  return claims.length === 0 ? { claims: [claim('a row', 'there is none', false)] } : { claims }
}

async function onTwoServices(row: AuthRow, seed: number, full: boolean): Promise<readonly Claim[]> {
  const folder = mkdtempSync(join(tmpdir(), 'faultline-torture-'))
  chmodSync(folder, 0o755)
  const postgres = await startEmbeddedPostgres({ dataDir: join(folder, 'database'), log: () => {} })
  const { connectionString } = postgres
  const services: Service[] = []
  try {
    await migrateDatabase(connectionString, () => {})
    const ports = [await freePort(), await freePort()] as const
    const dataDir = join(folder, 'service')
    const env = {
      PUBLIC_URL: `http://127.0.0.1:${ports[0]}`,
      FAULTLINE_DATA_DIR: dataDir,
      RATE_LIMIT_SCALE: '0',
      FAULTLINE_CANARY_MINUTES: '0',
      LOG_LEVEL: 'info',
      ...row.env,
    }
    // Logs of this process are not logs of the services.
    const config = { ...readConfig(env), logLevel: 'warn' as const }
    const app = await createApp(config, connectionString, 6, 'torture', {
      passwords: createPasswordHasher({ memoryKib: 8, passes: 1 }),
    })
    try {
      for (const port of ports)
        services.push(
          await startService({
            dataDir,
            port,
            env: { ...env, DATABASE_URL: connectionString, FAULTLINE_ROLES: 'ingest,api,digest' },
          }),
        )
      const form = full ? 'full' : 'default'
      return await row.run({
        app,
        connectionString,
        urls: [`http://127.0.0.1:${ports[0]}`, `http://127.0.0.1:${ports[1]}`],
        logs: () => services.map((service) => service.output()).join('\n'),
        form,
        seed,
        times: timesOf(form),
      })
    } finally {
      await app.close()
    }
  } finally {
    for (const service of services) await service.stop()
    await postgres.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

import { randomBytes } from 'node:crypto'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { adminCommand } from '#test/kit/admin-command.ts'
import { emptyDatabase } from '#test/kit/empty-database.ts'
import { startSmtpReceiver } from '#test/kit/smtp-receiver.ts'
import { testServer } from '#test/kit/test-server.ts'
import { readConfig } from '../../config/config.ts'
import { systemClock } from '../../platform/kernel/clock.ts'
import { newId } from '../../platform/kernel/ids.ts'
import { existingEncryptionKeys } from '../../platform/storage/seal.ts'
import { insertDrill, insertRun } from '../backup/backup-runs.queries.ts'
import { checkBackups } from './check-backups.ts'
import { checkDatabase, checkKeys, checkQueues } from './check-database.ts'
import { checkSettings } from './check-settings.ts'
import { checkKeyFile, checkMail, checkPublicAddress } from './check-surroundings.ts'
import { judgeVacuum } from './check-vacuum.ts'
import { readVacuumFacts, type VacuumFacts } from './doctor.queries.ts'

const t = await testServer({ realTime: true })
const owner = await t.founder()
const project = await t.project(owner)
const settings = {
  DATABASE_URL: t.connectionString,
  FAULTLINE_DATA_DIR: t.dataDir,
  PUBLIC_URL: t.url,
  LOG_LEVEL: 'error',
}
const db = t.app.db
const linesOf = (findings: readonly { level: string; part: string; text: string }[]): string[] =>
  findings.map(({ level, part, text }) => `${level} ${part}: ${text}`)

describe('the command', () => {
  test('prints a line for each part, what to do, and ends with 1 for a problem', async () => {
    await db.query(`update schema_migrations set applied_at = now() - interval '2 days'`)
    const { code, lines } = await adminCommand(['doctor'], settings)
    const text = lines.join('\n')
    expect(text).toContain(`ok       public address: the service answers at ${t.url}`)
    expect(text).toMatch(/^ok {7}database: PostgreSQL 18/m)
    expect(text).toContain('ok       migrations: all are applied')
    expect(text).toContain('ok       keys: the encryption keys open what is sealed')
    expect(text).toContain('problem  backup: There is no backup. Set BACKUP_FOLDER to a folder on another disk.')
    expect(lines.at(-1)).toMatch(/^\d+ problems?, \d+ notes?\.$/)
    expect(code).toBe(1)
  })

  test('says what is wrong with the database, and prints no secret', async () => {
    const secrets = { encryption: randomBytes(32).toString('base64'), backup: randomBytes(32).toString('base64') }
    const given = {
      ...settings,
      ENCRYPTION_KEYS: `k9:${secrets.encryption}`,
      BACKUP_KEY: secrets.backup,
      SMTP_URL: 'smtp://ada:hunter2@127.0.0.1:1',
      METRICS_TOKEN: 'a-token-of-the-metrics',
    }
    const wrong = await adminCommand(['doctor'], given)
    const text = wrong.lines.join('\n')
    expect(text).toContain('problem  keys: The encryption keys do not open what is sealed')
    expect(text).toMatch(/^problem {2}mail: The mail server of SMTP_URL cannot be used: .*ECONNREFUSED/m)
    for (const secret of [...Object.values(secrets), 'hunter2', given.METRICS_TOKEN]) expect(text).not.toContain(secret)

    const away = await adminCommand(['doctor'], { ...given, DATABASE_URL: 'postgres://ada:hunter2@127.0.0.1:1/x' })
    expect(away.lines.join('\n')).toContain('problem  database: No PostgreSQL answers at 127.0.0.1:1')
    expect(away.lines.join('\n')).not.toContain('hunter2')
    expect(away.code).toBe(1)

    const { connectionString } = await emptyDatabase()
    const empty = await adminCommand(['doctor'], { ...settings, DATABASE_URL: connectionString })
    expect(empty.lines.join('\n')).toContain('problem  migrations: The database is not up to date. Run')
  }, 60_000)
})

test('settings: a strict installation in order has nothing to note, and each weak one is named', () => {
  const strict = {
    NODE_ENV: 'production',
    PUBLIC_URL: 'https://faultline.example.com',
    ENCRYPTION_KEYS: `k1:${randomBytes(32).toString('base64')}`,
    TRUSTED_PROXIES: '127.0.0.1',
    SMTP_URL: 'smtps://mail.example.com',
    METRICS_TOKEN: 'a-token-of-the-metrics',
  }
  const check = (more: Record<string, string> = {}): string[] =>
    linesOf(checkSettings(readConfig({ ...strict, ...more })))
  expect(check()).toEqual(['ok settings: nothing is missing (strict mode)'])
  const weak: readonly [Record<string, string>, string][] = [
    [{ PUBLIC_URL: 'http://faultline.example.com' }, 'problem settings: PUBLIC_URL begins with http'],
    [{ TRUSTED_PROXIES: '' }, 'problem settings: TRUSTED_PROXIES is not set'],
    [{ TRUSTED_PROXIES: '', HOST: '0.0.0.0' }, 'problem settings: TRUSTED_PROXIES is not set'],
    [{ RATE_LIMIT_SCALE: '0' }, 'problem settings: RATE_LIMIT_SCALE is 0'],
    [{ FAULTLINE_SIGNUP: 'open' }, 'problem settings: FAULTLINE_SIGNUP is open'],
    [{ FAULTLINE_RETRY_SCALE: '0.1' }, 'problem settings: FAULTLINE_RETRY_SCALE'],
    [{ SMTP_URL: '' }, 'problem mail: SMTP_URL is not set'],
    [{ PASSWORD_CHECK: 'off' }, 'note settings: PASSWORD_CHECK is off'],
    [{ METRICS_TOKEN: '' }, 'note settings: METRICS_TOKEN is not set'],
    [{ FAULTLINE_CANARY_MINUTES: '0' }, 'note settings: FAULTLINE_CANARY_MINUTES is 0'],
    [{ EGRESS_ALLOW_HTTP: '1' }, 'note settings: EGRESS_ALLOW_HTTP is 1'],
  ]
  for (const [more, line] of weak)
    expect(
      check(more).some((one) => one.startsWith(line)),
      line,
    ).toBe(true)
  const relaxed = checkSettings(readConfig({ PUBLIC_URL: 'https://faultline.example.com' }))
  expect(linesOf(relaxed).join('\n')).toContain('runs in relaxed mode')
})

test('an address where another service answers, or none, is a problem', async () => {
  const at = async (publicUrl: string) => linesOf([await checkPublicAddress({ ...t.app.config, publicUrl })])[0]
  expect(await at(t.url)).toMatch(/^ok /)
  expect(await at(`${t.url}/api`)).toMatch(/^problem .* not as this service does/)
  expect(await at('http://127.0.0.1:1')).toMatch(/^problem public address: Nothing answers at/)
})

test('a mail server that accepts the log-in is well', async () => {
  const server = await startSmtpReceiver()
  onTestFinished(() => server.close())
  expect(await checkMail({ ...t.app.config, smtpUrl: server.url })).toMatchObject({ level: 'ok' })
})

test('a clock that differs is noted, and reported when it is far away', async () => {
  const by = async (ms: number): Promise<string[]> =>
    linesOf(await checkDatabase(db, { ...systemClock, now: () => new Date(Date.now() + ms) })).filter((line) =>
      line.includes('clock'),
    )
  expect(await by(0)).toEqual([expect.stringMatching(/^ok clock/)])
  expect(await by(-5_000)).toEqual([expect.stringMatching(/^note clock: .* 5\.\d s apart/)])
  expect(await by(3_600_000)).toEqual([expect.stringMatching(/^problem clock/)])
})

test('what waits too long is a problem', async () => {
  expect((await checkQueues(db, systemClock)).map(({ level }) => level)).toEqual(['ok', 'ok', 'ok', 'ok'])
  await t.app.db.query(
    `insert into spool (shard, project_number, received_at, entry_count, byte_count, entries, body) values (1, 7, now() - interval '3 hours', 12, 1, '', '')`,
  )
  await t.app.db.query(
    `insert into spool_quarantine (project_id, received_at, quarantined_at, reason, attempts, entry, body) values ($1, now(), now(), 'broken', 20, '', '')`,
    [project.id],
  )
  await t.app.db.query(`select graphile_worker.add_job('purge-files', run_at => now() - interval '2 hours')`)
  const lines = linesOf(await checkQueues(db, systemClock))
  expect(lines).toEqual([
    expect.stringMatching(/^problem digestion: 12 requests wait, the oldest for 3 h\./),
    'ok deliveries: none is late',
    expect.stringMatching(/^problem jobs: The job purge-files is due since 2 h/),
    expect.stringMatching(/^problem quarantine: 1 request could not be digested/),
  ])
})

describe('vacuum', () => {
  test('what it needs is read: its switch, the oldest open transaction, slots without a reader', async () => {
    const { promise: reading, resolve: isReading } = Promise.withResolvers<void>()
    const { promise: end, resolve: endIt } = Promise.withResolvers<void>()
    const open = db.tx(async (tx) => {
      await tx.query('set transaction isolation level repeatable read')
      await tx.query('select count(*) from projects')
      isReading()
      await end
    })
    await reading
    const facts = await readVacuumFacts(db)
    endIt()
    await open
    // Databases of tests are not vacuumed.
    expect(facts).toMatchObject({ isOn: false, slots: [], bloated: null })
    expect(facts.openMs).toBeGreaterThan(0)
    expect(facts.openName).toMatch(/^faultline/)
    expect(facts.transactionAge).toBeGreaterThan(0)
  })

  test('each thing that holds it up is named, with what to do', () => {
    const well: VacuumFacts = {
      isOn: true,
      transactionAge: 5e6,
      openMs: 9e4,
      openName: 'psql',
      slots: [],
      bloated: null,
    }
    const check = (more: Partial<VacuumFacts>): string[] => linesOf(judgeVacuum({ ...well, ...more }))
    expect(check({})).toEqual(['ok vacuum: space of deleted rows is used again'])
    expect(check({ isOn: false })).toEqual([expect.stringMatching(/^problem vacuum: autovacuum is off/)])
    expect(check({ transactionAge: 1.2e9 })).toEqual([expect.stringContaining('1,200,000,000 transactions')])
    expect(check({ openMs: 3 * 3_600_000 })).toEqual([
      expect.stringMatching(/^problem vacuum: A transaction of "psql" is open for 3 h/),
    ])
    const slots = [
      { name: 'standby1', keptBytes: 2e10 },
      { name: 'standby2', keptBytes: 1e9 },
    ]
    expect(check({ slots })).toEqual([expect.stringMatching(/^problem vacuum: .*"standby1" .* 20\.0 GB/)])
    expect(check({ bloated: { table: 'issues', deadRows: 3e6, liveRows: 1e6 } })).toEqual([
      expect.stringMatching(/^note vacuum: Table issues has 3,000,000 dead rows beside 1,000,000/),
    ])
  })
})

test('keys: wrong ones, missing ones, and a file that others may read', async () => {
  expect((await checkKeys(db, existingEncryptionKeys(t.dataDir))).level).toBe('ok')
  expect((await checkKeys(db, [{ id: 'k1', bytes: randomBytes(32) }])).level).toBe('problem')
  expect((await checkKeys(db, new Error('gone'))).text).toContain('cannot be read: gone')
  expect(checkKeyFile(t.dataDir)).toBe(null)
  const other = join(t.dataDir, 'other')
  mkdirSync(join(other, 'keys'), { recursive: true })
  writeFileSync(join(other, 'keys', 'encryption-keys'), '')
  chmodSync(join(other, 'keys', 'encryption-keys'), 0o644)
  expect(checkKeyFile(other)?.text).toContain('Run: chmod 600')
})

describe('backups', () => {
  const folder = '/mnt/backups-of-the-test'
  const config = { ...t.app.config, backup: { ...t.app.config.backup, folder } }
  const hoursAgo = (hours: number): Date => new Date(Date.now() - hours * 3_600_000)
  const check = async (): Promise<string[]> => linesOf(await checkBackups(db, config, new Date()))
  const run = async (hours: number, result: { name: string } | { problem: string }): Promise<void> => {
    const id = newId()
    await insertRun(db, { id, folder, startedAt: hoursAgo(hours) })
    const [name, reason] = 'name' in result ? [result.name, null] : [null, result.problem]
    await t.app.db.query('update backup_runs set finished_at = started_at, name = $2, problem = $3 where id = $1', [
      id,
      name,
      reason,
    ])
  }
  const drill = (days: number, outcome: 'restorable' | 'not_restorable', reason: string | null) =>
    insertDrill(db, {
      id: newId(),
      folder,
      name: 'a',
      startedAt: hoursAgo(days * 24),
      finishedAt: hoursAgo(days * 24),
      outcome,
      problem: reason,
      rows: 1,
    })
  beforeEach(async () => {
    await t.app.db.query('delete from backup_runs')
    await t.app.db.query('delete from backup_drills')
  })

  test('none, an old one, and one that failed since', async () => {
    await t.app.db.query('update schema_migrations set applied_at = now()')
    expect(await check()).toEqual([expect.stringMatching(/^note backup: There is no backup yet\. The schedule makes/)])
    await t.app.db.query(`update schema_migrations set applied_at = now() - interval '2 days'`)
    expect(await check()).toEqual([expect.stringMatching(/^problem backup: There is no backup\./)])
    await run(100, { name: 'a' })
    await run(2, { problem: 'The disk is full.' })
    expect(await check()).toEqual([
      expect.stringMatching(
        /^problem backup: The newest backup is 4 days old\. The last one failed: The disk is full\./,
      ),
      expect.stringMatching(/^note restore drill: No backup was ever restored/),
    ])
    await run(1, { name: 'b' })
    expect((await check())[0]).toBe('ok backup: the newest is 60 min old')
  })

  test('only a drill that passed, and not long ago, makes them restorable', async () => {
    await run(1, { name: 'a' })
    await drill(60, 'restorable', null)
    expect((await check())[1]).toMatch(/^problem restore drill: The last one was 60 days ago/)
    await drill(2, 'restorable', null)
    expect((await check())[1]).toBe('ok restore drill: a backup was restored 2 days ago')
    await drill(1, 'not_restorable', 'A file is missing.')
    expect((await check())[1]).toBe('problem restore drill: The last one failed: A file is missing.')
  })
})

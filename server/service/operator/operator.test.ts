import { expect, test } from 'vitest'
import { aPerson } from '#test/kit/members.ts'
import { testServer } from '#test/kit/test-server.ts'
import { judgeBackups, listConcerns, daysUntilFull, meanOfDays, judgeConcerns } from './judge-status.ts'
import { OperatorStatus } from './operator.api.ts'
import { readOperatorStatus, viewMinutes } from './read-status.ts'

const t = await testServer()
const { app, clock } = t
const first = await t.founder()

test('owners of the first organisation see the installation; everyone else finds nothing', async () => {
  const owner = await aPerson(app)
  const response = await first.get('/api/operator/status')
  expect(response.status).toBe(200)
  const status = OperatorStatus.strict().parse(response.body)
  expect(status).toMatchObject({
    version: app.config.version,
    verdict: expect.stringMatching(/^(attention|problem)$/) as unknown,
    queues: [{ name: 'spool', waiting: 0 }, { name: 'deliveries', waiting: 0 }, { name: 'jobs' }],
    backups: { state: 'none', is_scheduled: false },
    quarantine: [],
  })
  expect((await first.get('/api/me')).body).toMatchObject({ operates: true })
  const missing = { code: 'not_found' }
  await expect(readOperatorStatus(app, owner.actor)).rejects.toMatchObject(missing)
  const { org } = (await first.get('/api/me')).body as { org: { id: string; slug: string } }
  const admin = await aPerson(app, { role: 'admin', org })
  await expect(readOperatorStatus(app, admin.actor)).rejects.toMatchObject(missing)
})

test('quarantine is grouped by cause, what is late is a concern, and figures are read again after five seconds', async () => {
  const project = await t.project(first)
  const read = async () => OperatorStatus.parse((await first.get('/api/operator/status')).body)
  clock.advance(5_000)
  await read()
  const quarantine = (reason: string) =>
    app.db.query(
      `insert into spool_quarantine (project_id, received_at, quarantined_at, reason, attempts, entry, body)
       values ($1, $2, $2, $3, 3, '', '')`,
      [project.id, clock.now(), reason],
    )
  for (const reason of ['minidump', 'replay', 'minidump']) await quarantine(reason)
  expect((await read()).quarantine).toEqual([])
  clock.advance(5_000)
  const status = await read()
  expect(status.quarantine.map(({ reason, count }) => [reason, count])).toEqual([
    ['minidump', 2],
    ['replay', 1],
  ])
  expect(status.queues[0]?.given_up).toBe(3)
  expect(status.concerns.map(({ part }) => part)).toContain('quarantine')
})

test('rates are those of whole minutes, and the day has 96 quarters of an hour', () => {
  const now = new Date('2026-11-20T12:07:30Z')
  const at = (time: string, events: number) => ({ minute: new Date(`2026-11-20T${time}:00Z`), events })
  const view = viewMinutes([at('06:38', 5_760), at('12:02', 300), at('12:06', 600), at('12:07', 9_000)], now)
  expect(view).toMatchObject({ per_second: 3, busiest_per_second: 150, busiest_at: '2026-11-20T12:07:00.000Z' })
  expect(view.by_quarter_hour).toHaveLength(96)
  expect(view.by_quarter_hour.at(-1)).toEqual({ t: '2026-11-20T12:00:00.000Z', per_second: 11 })
  expect(view.by_quarter_hour.find(({ t: time }) => time === '2026-11-20T06:30:00.000Z')?.per_second).toBe(6.4)
  expect(viewMinutes([], now)).toMatchObject({ per_second: 0, busiest_per_second: 0, busiest_at: null })
})

test('days until the disk is full', () => {
  const GB = 2 ** 30
  const disk = { totalBytes: 500 * GB, freeBytes: 200 * GB }
  expect(daysUntilFull(disk, 3 * GB)).toBe(50)
  expect(daysUntilFull({ ...disk, freeBytes: 40 * GB }, 3 * GB)).toBe(0)
  expect(daysUntilFull(disk, 0)).toBeNull()
  expect(daysUntilFull(disk, null)).toBeNull()
  expect(daysUntilFull(null, GB)).toBeNull()
  expect(meanOfDays([1, 3])).toBeNull()
  expect(meanOfDays([1, 3, 8])).toBe(4)
})

test('a backup is restorable only after a passed drill', () => {
  const at = new Date()
  const times = { completeAt: at, problem: null, restorableAt: null, drillProblem: null }
  expect(judgeBackups({ ...times, completeAt: null })).toBe('none')
  expect(judgeBackups(times)).toBe('made')
  expect(judgeBackups({ ...times, restorableAt: at })).toBe('restorable')
  expect(judgeBackups({ ...times, restorableAt: at, drillProblem: 'rows differ' })).toBe('failed')
  expect(judgeBackups({ ...times, restorableAt: at, problem: 'no space' })).toBe('failed')
})

test('problems come first and decide the verdict', () => {
  const well = { state: 'ok', explanation: '' } as const
  expect(judgeConcerns(listConcerns([{ level: 'ok', part: 'jobs', text: '' }, null], well, 100))).toBe('ok')
  const concerns = listConcerns(
    [
      { level: 'note', part: 'backup', text: 'a' },
      { level: 'problem', part: 'jobs', text: 'b' },
    ],
    { state: 'late', explanation: 'c' },
    3,
  )
  expect(concerns.map(({ part }) => part)).toEqual(['jobs', 'canary', 'backup', 'disk'])
  expect(judgeConcerns(concerns)).toBe('problem')
  expect(judgeConcerns(concerns.slice(1))).toBe('attention')
})

import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { adminCommand } from '#test/kit/admin-command.ts'
import { testServer } from '#test/kit/test-server.ts'
import { lockDataDir } from '../../platform/embedded-postgres/lock.ts'
import { backupFolder, backUp, never } from './backup.fixture.ts'
import { type BackupTimes, readBackupTimes } from './backup-runs.queries.ts'
import { backupsTask, isBackupDue, isDrillDue } from './backups-task.ts'

const t = await testServer({ realTime: true })
const owner = await t.founder()
await t.issue({ project: await t.project(owner), by: owner })
// The user of the scratch database must enter it.
chmodSync(t.dataDir, 0o711)
const settings = { DATABASE_URL: t.connectionString, FAULTLINE_DATA_DIR: t.dataDir, LOG_LEVEL: 'error' }

/** Changes a byte of the largest file. */
function damage(folder: string): void {
  const files = readdirSync(join(folder, 'files')).map((name) => join(folder, 'files', name))
  const largest = files.toSorted((a, b) => statSync(b).size - statSync(a).size)[0] ?? ''
  const bytes = readFileSync(largest)
  bytes.writeUInt8(bytes.readUInt8(50) ^ 1, 50)
  writeFileSync(largest, bytes)
}

test('a drill restores the newest backup, and the list says so', async () => {
  const folder = backupFolder()
  const { name } = await backUp(t, folder)
  const before = await adminCommand(['backup', 'list', folder], settings)
  expect(before.lines).toEqual([
    expect.stringMatching(`^${name}  .* rows, .*; not restored yet$`),
    `1 backup in ${folder}.`,
  ])
  const drill = await adminCommand(['backup', 'drill', folder], settings)
  expect(drill.lines.at(-1)).toMatch(/is restorable: .* rows restored and compared/)
  expect(drill.code).toBe(0)
  expect(readdirSync(t.dataDir)).not.toContain('drill')
  const after = await adminCommand(['backup', 'list', folder], settings)
  expect(after.lines[0]).toMatch(/restorable: a drill restored it on/)
  const passed = await readBackupTimes(t.app.db, folder)
  expect([passed.restorableAt, passed.drillProblem]).toEqual([expect.any(Date), null])

  // Another drill has the scratch folder: that one continues, and nothing is said about the backup.
  const scratch = join(t.dataDir, 'drill')
  mkdirSync(scratch)
  const release = lockDataDir(scratch)
  const second = await adminCommand(['backup', 'drill', folder], settings)
  expect([second.code, second.lines.at(-1)]).toEqual([1, expect.stringContaining('Another drill runs here.')])
  expect(readdirSync(scratch)).toContain('faultline.lock')
  release()

  damage(folder)
  const failed = await adminCommand(['backup', 'drill', folder], settings)
  expect([failed.code, failed.lines.at(-1)]).toEqual([
    1,
    expect.stringMatching(/is NOT RESTORABLE\. .* was changed after/),
  ])
  expect((await adminCommand(['backup', 'list', folder], settings)).lines[0]).toContain('NOT RESTORABLE on')
  expect((await readBackupTimes(t.app.db, folder)).drillProblem).toContain('was changed')
}, 120_000)

test('the scheduled job writes a backup and restores the first one; then nothing is due', async () => {
  const folder = backupFolder()
  for (const [name, value] of Object.entries({ ...settings, BACKUP_FOLDER: folder })) vi.stubEnv(name, value)
  onTestFinished(() => void vi.unstubAllEnvs())
  const app = { ...t.app, config: { ...t.app.config, backup: { ...t.app.config.backup, folder } } }
  await backupsTask.run(app, {}, never)
  const times = await readBackupTimes(t.app.db, folder)
  expect([times.completeAt, times.restorableAt, times.problem]).toEqual([expect.any(Date), expect.any(Date), null])
  await backupsTask.run(app, {}, never)
  expect(await readBackupTimes(t.app.db, folder)).toEqual(times)
  expect(readdirSync(folder).filter((name) => name.startsWith('backup-'))).toHaveLength(1)
}, 120_000)

test('a scheduled backup that fails says why, and is tried again an hour later', async () => {
  const folder = join(t.dataDir, 'inside')
  for (const [name, value] of Object.entries({ ...settings, BACKUP_FOLDER: folder })) vi.stubEnv(name, value)
  onTestFinished(() => void vi.unstubAllEnvs())
  const app = { ...t.app, config: { ...t.app.config, backup: { ...t.app.config.backup, folder } } }
  await backupsTask.run(app, {}, never)
  const times = await readBackupTimes(t.app.db, folder)
  expect([times.completeAt, times.problem]).toEqual([null, expect.stringContaining('is inside the data folder')])
  expect(t.logLines.at(-1)).toMatchObject({
    msg: 'the scheduled backup failed',
    problem: `faultline: ${times.problem}`,
  })
  const startedMs = times.startedAt?.getTime() ?? 0
  expect(isBackupDue(times, startedMs + 3_599_000, 86_400_000)).toBe(false)
  expect(isBackupDue(times, startedMs + 3_600_000, 86_400_000)).toBe(true)
}, 60_000)

test('when backups and drills are due', () => {
  const at = (hours: number): Date => new Date(hours * 3_600_000)
  const never24: BackupTimes = {
    startedAt: null,
    completeAt: null,
    problem: null,
    drilledAt: null,
    restorableAt: null,
    drillProblem: null,
  }
  const due = (times: Partial<BackupTimes>, hours: number) => {
    const all = { ...never24, ...times }
    return [isBackupDue(all, hours * 3_600_000, 24 * 3_600_000), isDrillDue(all, hours * 3_600_000)]
  }
  expect(due({}, 0)).toEqual([true, false])
  const complete = { startedAt: at(10), completeAt: at(10) }
  expect(due(complete, 33)).toEqual([false, true])
  expect(due(complete, 34)).toEqual([true, true])
  const passed = { ...complete, drilledAt: at(11), restorableAt: at(11) }
  expect(due(passed, 11 + 719)).toEqual([true, false])
  expect(due(passed, 11 + 720)).toEqual([true, true])
  const failed = { ...complete, drilledAt: at(11), restorableAt: at(5) }
  expect([due(failed, 34)[1], due(failed, 35)[1]]).toEqual([false, true])
})

import { expect, test } from 'vitest'
import { aPerson } from '#test/kit/members.ts'
import { testApp } from '#test/kit/test-app.ts'
import { changeQuota } from '../../identity/team/change-quota.ts'
import { DatabaseStartError } from '../../platform/storage/pool.ts'
import { openAuditKey } from './audit-key.ts'

const t = await testApp()
const { app } = t

test('a key that was removed is replaced only while no log needs it', async () => {
  const open = () => openAuditKey(app.db, app.sealer, app.clock)
  expect((await open()).id).toBe(app.auditKey.id)
  const ada = await aPerson(app)
  await app.db.query('delete from audit_key')
  expect((await open()).id).not.toBe(app.auditKey.id)
  await changeQuota(app, ada.actor, 1)
  await app.db.query('delete from audit_key')
  await expect(open()).rejects.toThrow(DatabaseStartError)
  await expect(open()).rejects.toThrow(/^The key of the audit log is missing.*Restore its row from a backup/)
})

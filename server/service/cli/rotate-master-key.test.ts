import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { createApp } from '../app.ts'
import { orgOpener } from '../../identity/auth/org-sealer.ts'
import { publicJwks, signingKey } from '../../identity/auth/signing-keys.ts'
import type { App } from '../../platform/context/app.ts'
import { enqueueMails } from '../../platform/mails/enqueue-mails.ts'
import { aPerson } from '#test/kit/members.ts'
import { queuedMails } from '#test/kit/queued-mails.ts'
import { keyIdsBySealedColumn } from '#test/kit/sealed-values.ts'
import { testApp } from '#test/kit/test-app.ts'
import { readConfig } from '../../config/config.ts'
import { newId } from '../../platform/kernel/ids.ts'
import { openSecret, sealSecret } from '../../identity/two-factor/backup-codes.ts'
import { MASTER_SEALED, rotateMasterKey } from './account-commands.ts'

const key = (id: string): string => `${id}:${randomBytes(32).toString('base64')}`
const [k1, k2] = [key('k1'), key('k2')]
const t = await testApp({ env: { ENCRYPTION_KEYS: k1 } })

async function appWith(keys: string): Promise<App> {
  const config = readConfig({ FAULTLINE_DATA_DIR: t.dataDir, ENCRYPTION_KEYS: keys, LOG_LEVEL: 'silent' })
  const app = await createApp(config, t.connectionString, 2, 'keys', { clock: t.clock })
  t.onClose(() => app.close())
  return app
}

const keyIds = () => keyIdsBySealedColumn(t.app.db)

test('everything is sealed again, after a kill too, and the old key can be removed', async () => {
  const person = await aPerson(t.app)
  const { userId, orgId } = person.actor
  for (let n = 0; n < 3; n++) await aPerson(t.app)
  await signingKey(t.app)
  const secret = randomBytes(20)
  const factorId = newId()
  await t.app.db
    .insertInto('totp_factors')
    .values({
      id: factorId,
      user_id: userId,
      secret_sealed: sealSecret(t.app, secret, factorId, userId),
      backup_salt: randomBytes(16),
      created_at: t.clock.now(),
    })
    .execute()
  await t.app.tx((tx) =>
    enqueueMails(tx, t.app, orgId, [
      { type: 'test', userId, to: person.email, subject: 'Hello', name: 'Ada', paragraphs: ['A secret link.'] },
    ]),
  )
  const before = await keyIds()
  const master = [...before].filter(([, ids]) => !ids.includes('d1')).map(([name]) => name)
  expect(MASTER_SEALED.map(({ table, column }) => `${table}.${column}`).toSorted()).toEqual(master.toSorted())

  const both = await appWith(`${k2},${k1}`)
  let transactions = 0
  const killed: App = {
    ...both,
    tx: (work) =>
      both.tx(async (tx) => {
        const result = await work(tx)
        if (++transactions === 2) throw new Error('killed')
        return result
      }),
  }
  await expect(rotateMasterKey(killed, () => {})).rejects.toThrow('killed')
  const steps: string[] = []
  const { resealed, left } = await rotateMasterKey(both, (done, total) => void steps.push(`${done}/${total}`))
  expect({ left, last: steps.at(-1) }).toEqual({ left: 0, last: `${resealed}/${resealed}` })
  expect(await rotateMasterKey(both, () => {})).toEqual({ resealed: 0, left: 0 })
  for (const [name, ids] of await keyIds()) expect([name, [...ids]]).toEqual([name, [ids.includes('d1') ? 'd1' : 'k2']])

  const next = await appWith(k2)
  expect((await publicJwks(next)).length).toBe(2)
  await orgOpener(next, orgId)
  const factor = await t.app.db.selectFrom('totp_factors').selectAll().executeTakeFirstOrThrow()
  expect(openSecret(next, factor)).toEqual(secret)
  expect(await queuedMails(next, person.email)).toMatchObject([{ subject: 'Hello' }])
  const { rows } = await t.app.db.query(
    `select distinct actor_id, meta::jsonb ->> 'key_id' as key_id from audit_log where action = 'encryption.key_rotated'`,
  )
  expect(rows).toEqual([{ actor_id: 'rotate-keys', key_id: 'k2' }])
  await expect(appWith(k1)).rejects.toThrow(/^ENCRYPTION_KEYS/)
})

test('a value that a service without the new key makes meanwhile is not passed over', async () => {
  await t.app.db.query('delete from signing_keys')
  const late = await appWith(`${k1},${k2}`)
  const both = await appWith(`${k2},${k1}`)
  let transactions = 0
  const raced: App = {
    ...both,
    tx: async (work) => {
      const result = await both.tx(work)
      // After the signing keys were read: the second column.
      if (++transactions === 2) await signingKey(late)
      return result
    },
  }
  expect(await rotateMasterKey(raced, () => {})).toMatchObject({ left: 2 })
  expect(await rotateMasterKey(both, () => {})).toEqual({ resealed: 2, left: 0 })
})

import type { z } from 'zod'
import { lockOrg } from '../../identity/auth/membership-changes.queries.ts'
import { lockUser } from '../../identity/auth/auth.queries.ts'
import { requireActiveSession } from '../../identity/auth/require-recent-sign-in.ts'
import { orgSealer } from '../../identity/auth/org-sealer.ts'
import { requireActingMember, type OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { conflict, invalid, notFound } from '../../platform/kernel/errors.ts'
import { newId } from '../../platform/kernel/ids.ts'
import { lockUntilEnd } from '../../platform/storage/advisory-lock.queries.ts'
import { type pushDeviceRoutes, MAX_DEVICES_PER_ORG, MAX_DEVICES_PER_USER, type PushDevice } from './devices.api.ts'
import {
  changeDevice,
  countDevices,
  deleteDevices,
  insertDevice,
  lockByToken,
  selectDevice,
} from './devices.queries.ts'
import { maskedToken, detectPushProvider, tokenHash, tokenPlace } from './push-token.ts'
import { viewDevice } from './view-device.ts'

type Input = z.output<(typeof pushDeviceRoutes)['registerPushDevice']['body']>

/**
 * Registers a device of the member in this organisation. A token that another user registered becomes the member's: the
 * device has changed hands, and the other user's registrations end, in all organisations.
 * @throws AppError invalid (token), conflict (too many), unauthenticated
 */
export async function registerDevice(
  app: App,
  actor: OrgActor,
  { token, platform }: Input,
): Promise<{ readonly device: z.input<typeof PushDevice>; readonly isNew: boolean }> {
  const provider = detectPushProvider(token)
  if (provider === null)
    throw invalid('token must be ExponentPushToken[…], ExpoPushToken[…] or a registration token of FCM.')
  const { userId, orgId } = requireActingMember(actor)
  const hash = tokenHash(app, token)
  return app.tx(async (tx) => {
    // One registration of a token at a time, whatever the organisation; then one of the organisation, for its bounds.
    await lockUntilEnd(tx, lockOf(hash))
    await lockOrg(tx, orgId)
    if (actor.kind === 'user' && actor.sessionId !== null) {
      await lockUser(tx, userId)
      await requireActiveSession(tx, actor)
    }
    const known = await lockByToken(tx, hash)
    const own = known.find((one) => one.org_id === orgId && one.user_id === userId)
    // Another user's device in this or another organisation becomes this one.
    const kept = own ?? known.find((one) => one.user_id !== userId)
    await deleteDevices(
      tx,
      known.filter((one) => one.user_id !== userId && one.id !== kept?.id).map(({ id }) => id),
    )
    if (own === undefined) requireRoom(await countDevices(tx, { userId, orgId }))
    const now = app.clock.now()
    const id = kept?.id ?? newId()
    const sealer = await orgSealer(app, orgId, tx)
    const registration = {
      org_id: orgId,
      user_id: userId,
      platform,
      token_sealed: sealer.seal(Buffer.from(token), tokenPlace(orgId, id)),
      session_id: actor.kind === 'user' ? actor.sessionId : null,
      api_key_id: actor.kind === 'api_key' ? actor.keyId : null,
      registered_at: now,
    }
    const forNewOwner = {
      created_at: now,
      last_sent_at: null,
      last_error_code: null,
      last_error_text: null,
      last_error_at: null,
    }
    if (kept === undefined)
      await insertDevice(tx, {
        id,
        provider,
        token_hash: hash,
        token_masked: maskedToken(token),
        created_at: now,
        ...registration,
      })
    else await changeDevice(tx, id, { ...registration, ...(own === undefined ? forNewOwner : {}) })
    const row = await selectDevice(tx, { userId, orgId }, id)
    if (row === undefined) throw notFound('Device')
    return { device: viewDevice(app, row), isNew: known.length === 0 }
  })
}

function requireRoom({ own, all }: { own: number; all: number }): void {
  if (own >= MAX_DEVICES_PER_USER)
    throw conflict(`You have ${MAX_DEVICES_PER_USER} devices here, the maximum. Remove one that you no longer use.`)
  if (all >= MAX_DEVICES_PER_ORG) throw conflict(`The organisation has ${MAX_DEVICES_PER_ORG} devices, the maximum.`)
}

const lockOf = (hash: Buffer): number => 7_203_000_000_000 + hash.readUInt32BE(0)

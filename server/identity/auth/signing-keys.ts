import { calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK, type CryptoKey, type JWK } from 'jose'
import { z } from 'zod'
import { type App, perApp } from '../../platform/context/app.ts'
import { conflict } from '../../platform/kernel/errors.ts'
import { lockUntilEnd } from '../../platform/storage/advisory-lock.queries.ts'
import { publish } from '../../platform/storage/bus.ts'
import type { SealedColumn } from '../../platform/storage/sealed-column.ts'
import {
  activateSigningKey,
  deleteOldSigningKeys,
  insertSigningKey,
  readSigningKeys,
  retireSigningKey,
  type SigningKeyRow,
} from './auth.queries.ts'
import { DAY_MS } from '../../platform/kernel/day.ts'

/**
 * Keys of access tokens: Ed25519, named by their thumbprint, with the private part sealed at rest. One signs (`active`). The
 * one that signs after it (`next`) is published already, so that a verifier that caches the key set knows it before its first
 * token. Those before (`retired`) verify until the last of their tokens has expired.
 */

/** The only algorithm of access tokens. */
export const ACCESS_TOKEN_ALGORITHM = 'EdDSA'

const LIFE_MS = 90 * DAY_MS
/** How long a key is published before it signs: verifiers may cache the key set for ten minutes. */
const PUBLISHED_MS = 10 * 60_000
/** The lifetime of an access token, plus five minutes. */
const VERIFIES_AFTER_RETIREMENT_MS = 20 * 60_000
/** How long the keys are cached, in case a message of the bus is lost. */
const RING_LIFE_MS = 60_000
/** An unknown key id reloads the keys at most this often. */
const RELOAD_AFTER_MS = 1_000

/** An arbitrary number. Processes that create a key at the same time wait for each other with this lock. */
const KEY_LOCK = 7_201_994_327

type SigningKey = { readonly kid: string; readonly activatedAt: Date; readonly key: CryptoKey }
type PublicKey = { readonly kid: string; readonly key: CryptoKey; readonly jwk: JWK; readonly goneAt: Date | null }
type Ring = {
  readonly active: SigningKey | null
  /** When the key that signs next was published. */
  readonly nextSince: Date | null
  readonly publicKeys: ReadonlyMap<string, PublicKey>
  readonly loadedAtMs: number
}

const rings = perApp((app) => {
  const state: { ring: Ring | null; generation: number } = { ring: null, generation: 0 }
  const drop = (): void => {
    state.ring = null
    state.generation++
  }
  app.bus.on('signing_key', drop)
  app.bus.onGap(drop)
  return { state, drop }
})

/** The key that signs. After 90 days the next one does. The first ones are created at first use. */
export async function signingKey(app: App): Promise<SigningKey> {
  const ring = await currentRing(app)
  const { active, nextSince } = ring
  const isDone =
    active !== null && nextSince !== null && !(isDue(app, active.activatedAt) && isPublished(app, nextSince))
  if (isDone) return active
  await renewKeys(app, isDue)
  const renewed = await currentRing(app)
  if (renewed.active === null) throw new Error('There is no signing key although one was just created.')
  return renewed.active
}

/** @returns null for an unknown key and for one that was retired more than 20 minutes ago */
export async function verifyingKey(app: App, kid: string): Promise<CryptoKey | null> {
  let ring = await currentRing(app)
  if (!ring.publicKeys.has(kid) && app.clock.monotonicMs() - ring.loadedAtMs >= RELOAD_AFTER_MS) {
    rings(app).drop()
    ring = await currentRing(app)
  }
  const known = ring.publicKeys.get(kid)
  return known === undefined || isGone(app, known) ? null : known.key
}

/** Public keys that verify access tokens: the one that signs, the next one, those before, newest first. */
export async function publicJwks(app: App): Promise<JWK[]> {
  await signingKey(app)
  const ring = await currentRing(app)
  return [...ring.publicKeys.values()].filter((key) => !isGone(app, key)).map(({ jwk }) => jwk)
}

/**
 * Signs with the next key from now on, and publishes another. The key before verifies for 20 more minutes.
 * @throws AppError conflict when the next key was published less than ten minutes ago
 */
export async function rotateSigningKey(app: App): Promise<void> {
  await signingKey(app)
  const { isRotated, nextSince } = await renewKeys(app, () => true)
  if (!isRotated)
    throw conflict(
      `The next key was published less than ten minutes ago. It can sign from ${new Date(nextSince.getTime() + PUBLISHED_MS).toISOString()}.`,
    )
}

const isGone = (app: App, key: PublicKey): boolean => key.goneAt !== null && key.goneAt <= app.clock.now()

const isOlder = (app: App, than: number, time: Date): boolean => time.getTime() <= app.clock.now().getTime() - than
const isDue = (app: App, activatedAt: Date): boolean => isOlder(app, LIFE_MS, activatedAt)
const isPublished = (app: App, since: Date): boolean => isOlder(app, PUBLISHED_MS, since)

const activationOf = (row: SigningKeyRow): Date => row.activated_at ?? row.created_at

/**
 * Lets the next key sign when the active one is over and the next one was published long enough, and creates what is
 * missing. Of several processes one does it.
 */
async function renewKeys(
  app: App,
  isOver: (app: App, activatedAt: Date) => boolean,
): Promise<{ readonly isRotated: boolean; readonly nextSince: Date }> {
  const [first, second] = [await newKey(app), await newKey(app)]
  const now = app.clock.now()
  const result = await app.tx(async (tx) => {
    await lockUntilEnd(tx, KEY_LOCK)
    const rows = await readSigningKeys(tx)
    const active = rows.find(({ state }) => state === 'active')
    const next = rows.find(({ state }) => state === 'next')
    const isRotated =
      active !== undefined &&
      next !== undefined &&
      isOver(app, activationOf(active)) &&
      isPublished(app, next.created_at)
    if (isRotated) {
      await retireSigningKey(tx, active.kid, now)
      await activateSigningKey(tx, next.kid, now)
    }
    if (active === undefined)
      await insertSigningKey(tx, { ...first, state: 'active', created_at: now, activated_at: now })
    const keepsNext = next !== undefined && !isRotated
    if (!keepsNext) await insertSigningKey(tx, { ...second, state: 'next', created_at: now })
    await deleteOldSigningKeys(tx, new Date(now.getTime() - DAY_MS))
    if (active === undefined || !keepsNext) await publish(tx, 'signing_key', {})
    return { isRotated, nextSince: keepsNext ? next.created_at : now }
  })
  rings(app).drop()
  return result
}

async function newKey(app: App) {
  const pair = await generateKeyPair(ACCESS_TOKEN_ALGORITHM, { crv: 'Ed25519', extractable: true })
  const publicJwk = await exportJWK(pair.publicKey)
  const privateJwk = await exportJWK(pair.privateKey)
  const kid = await calculateJwkThumbprint(publicJwk)
  return {
    kid,
    public_jwk: JSON.stringify({ ...publicJwk, kid, alg: ACCESS_TOKEN_ALGORITHM, use: 'sig' }),
    private_sealed: app.sealer.seal(Buffer.from(JSON.stringify(privateJwk)), placeOf(kid)),
  }
}

const placeOf = (kid: string): string => `signing_keys:private_sealed:${kid}`

export const SIGNING_KEYS: SealedColumn = {
  table: 'signing_keys',
  column: 'private_sealed',
  keys: ['kid'],
  placeOf: (kid = '') => placeOf(kid),
}

async function currentRing(app: App): Promise<Ring> {
  const { state } = rings(app)
  if (state.ring !== null && app.clock.monotonicMs() - state.ring.loadedAtMs < RING_LIFE_MS) return state.ring
  const { generation } = state
  const loaded = await loadRing(app)
  // A key created during the read may be missing: use the result once, do not cache it.
  if (state.generation === generation) state.ring = loaded
  return loaded
}

const Okp = z.looseObject({ kty: z.literal('OKP'), crv: z.literal('Ed25519'), x: z.string() })

async function loadRing(app: App): Promise<Ring> {
  const loadedAtMs = app.clock.monotonicMs()
  const publicKeys = new Map<string, PublicKey>()
  let active: SigningKey | null = null
  let nextSince: Date | null = null
  for (const row of await readSigningKeys(app.db)) {
    const jwk = Okp.parse(row.public_jwk)
    const goneAt = row.retired_at === null ? null : new Date(row.retired_at.getTime() + VERIFIES_AFTER_RETIREMENT_MS)
    publicKeys.set(row.kid, { kid: row.kid, key: await importKey(jwk), jwk, goneAt })
    if (row.state === 'next') nextSince = row.created_at
    if (row.state !== 'active') continue
    const privateJwk = Okp.parse(JSON.parse(app.sealer.open(row.private_sealed, placeOf(row.kid)).toString()))
    active = { kid: row.kid, activatedAt: activationOf(row), key: await importKey(privateJwk) }
  }
  return { active, nextSince, publicKeys, loadedAtMs }
}

async function importKey(jwk: JWK): Promise<CryptoKey> {
  const key = await importJWK(jwk, ACCESS_TOKEN_ALGORITHM)
  if (key instanceof Uint8Array) throw new Error('A signing key is not an Ed25519 key.')
  return key
}

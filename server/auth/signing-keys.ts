import { lockUntilEnd } from '../storage/advisory-lock.queries.ts'
import { calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK, type CryptoKey, type JWK } from 'jose'
import { z } from 'zod'
import type { App } from '../context/app.ts'
import { publish } from '../storage/bus.ts'
import type { SealedColumn } from '../storage/sealed-column.ts'
import { deleteOldSigningKeys, insertSigningKey, readSigningKeys, retireSigningKey } from './auth.queries.ts'
import { perApp } from '../context/per-app.ts'

/** Keys of access tokens: Ed25519, named by their thumbprint, with the private part sealed at rest. */

/** The only algorithm of access tokens. */
export const ACCESS_TOKEN_ALGORITHM = 'EdDSA'

const DAY_MS = 86_400_000
const LIFE_MS = 90 * DAY_MS
/** The lifetime of an access token, plus five minutes. */
const VERIFIES_AFTER_RETIREMENT_MS = 20 * 60_000
/** How long the keys are cached, in case a message of the bus is lost. */
const RING_LIFE_MS = 60_000
/** An unknown key id reloads the keys at most this often. */
const RELOAD_AFTER_MS = 1_000

/** An arbitrary number. Processes that create a key at the same time wait for each other with this lock. */
const KEY_LOCK = 7_201_994_312

type SigningKey = { readonly kid: string; readonly createdAt: Date; readonly key: CryptoKey }
type PublicKey = { readonly kid: string; readonly key: CryptoKey; readonly jwk: JWK; readonly goneAt: Date | null }
type Ring = {
  readonly active: SigningKey | null
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

/** The current signing key. It is created at first use and replaced after 90 days. */
export async function signingKey(app: App): Promise<SigningKey> {
  const ring = await currentRing(app)
  if (ring.active !== null && ring.active.createdAt.getTime() > app.clock.now().getTime() - LIFE_MS) return ring.active
  await replaceSigningKey(app, new Date(app.clock.now().getTime() - LIFE_MS))
  const { active } = await currentRing(app)
  if (active === null) throw new Error('There is no signing key although one was just created.')
  return active
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

/** Public keys that verify access tokens, newest first. */
export async function publicJwks(app: App): Promise<JWK[]> {
  await signingKey(app)
  const ring = await currentRing(app)
  return [...ring.publicKeys.values()].filter((key) => !isGone(app, key)).map(({ jwk }) => jwk)
}

/** Creates a new signing key. The old one verifies for 20 more minutes. */
export const rotateSigningKey = (app: App): Promise<void> => replaceSigningKey(app, null)

const isGone = (app: App, key: PublicKey): boolean => key.goneAt !== null && key.goneAt <= app.clock.now()

/** @param staleBefore keeps an active key that was created later, by another process. Null replaces any key. */
async function replaceSigningKey(app: App, staleBefore: Date | null): Promise<void> {
  const pair = await generateKeyPair(ACCESS_TOKEN_ALGORITHM, { crv: 'Ed25519', extractable: true })
  const publicJwk = await exportJWK(pair.publicKey)
  const privateJwk = await exportJWK(pair.privateKey)
  const kid = await calculateJwkThumbprint(publicJwk)
  const now = app.clock.now()
  await app.tx(async (tx) => {
    await lockUntilEnd(tx, KEY_LOCK)
    const active = (await readSigningKeys(tx)).find((key) => key.state === 'active')
    if (active !== undefined) {
      if (staleBefore !== null && active.created_at > staleBefore) return
      await retireSigningKey(tx, active.kid, now)
    }
    await insertSigningKey(tx, {
      kid,
      state: 'active',
      public_jwk: JSON.stringify({ ...publicJwk, kid, alg: ACCESS_TOKEN_ALGORITHM, use: 'sig' }),
      private_sealed: app.sealer.seal(Buffer.from(JSON.stringify(privateJwk)), placeOf(kid)),
      created_at: now,
    })
    await deleteOldSigningKeys(tx, new Date(now.getTime() - DAY_MS))
    await publish(tx, 'signing_key', {})
  })
  rings(app).drop()
}

const placeOf = (kid: string): string => `signing_keys:private_sealed:${kid}`

export const SIGNING_KEYS: SealedColumn = { table: 'signing_keys', column: 'private_sealed', key: 'kid', placeOf }

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
  for (const row of await readSigningKeys(app.db)) {
    const jwk = Okp.parse(row.public_jwk)
    const goneAt = row.retired_at === null ? null : new Date(row.retired_at.getTime() + VERIFIES_AFTER_RETIREMENT_MS)
    publicKeys.set(row.kid, { kid: row.kid, key: await importKey(jwk), jwk, goneAt })
    if (row.state !== 'active') continue
    const privateJwk = Okp.parse(JSON.parse(app.sealer.open(row.private_sealed, placeOf(row.kid)).toString()))
    active = { kid: row.kid, createdAt: row.created_at, key: await importKey(privateJwk) }
  }
  return { active, publicKeys, loadedAtMs }
}

async function importKey(jwk: JWK): Promise<CryptoKey> {
  const key = await importJWK(jwk, ACCESS_TOKEN_ALGORITHM)
  if (key instanceof Uint8Array) throw new Error('A signing key is not an Ed25519 key.')
  return key
}

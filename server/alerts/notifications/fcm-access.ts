import { SignJWT } from 'jose'
import { z } from 'zod'
import type { FcmSettings } from '../../config/firebase.ts'
import { type App, perApp } from '../../platform/context/app.ts'
import type { AttemptResult } from '../../platform/outbox/channel.ts'
import { askProvider } from './provider-request.ts'

/** Access tokens of the service account: OAuth 2 with a JWT as grant (RFC 7523), as Google documents it. */

const SCOPE = 'https://www.googleapis.com/auth/firebase.messaging'
const LIFE_SECONDS = 3_600
/** A token that expires on its way is refused. */
const MARGIN_MS = 60_000

const Granted = z.object({
  access_token: z.string().min(1).max(4_096),
  token_type: z.string().regex(/^bearer$/i),
  expires_in: z.number().positive(),
})
const Refused = z.object({ error: z.string(), error_description: z.string().default('') })

/** Google gave no token. */
export class FcmAccessError extends Error {
  readonly result: Partial<Pick<AttemptResult, 'status' | 'retryAfterMs' | 'durationMs'>>

  constructor(message: string, result: FcmAccessError['result']) {
    super(message)
    this.result = result
  }
}

type Access = { readonly token: string; readonly untilMs: number }
type State = { known: Access | null; asking: Promise<Access> | null }

const states = perApp((): State => ({ known: null, asking: null }))

/** One request for all who ask meanwhile; kept until a minute before it expires. @throws FcmAccessError, EgressError */
export async function fcmAccessToken(app: App, fcm: FcmSettings): Promise<string> {
  const state = states(app)
  if (state.known !== null && app.clock.monotonicMs() < state.known.untilMs) return state.known.token
  state.asking ??= requestAccess(app, fcm).finally(() => {
    state.asking = null
  })
  state.known = await state.asking
  return state.known.token
}

export function forgetFcmAccess(app: App): void {
  states(app).known = null
}

async function requestAccess(
  app: App,
  { clientEmail, privateKey, privateKeyId, tokenUrl }: FcmSettings,
): Promise<Access> {
  const now = Math.floor(app.clock.now().getTime() / 1000)
  const askedMs = app.clock.monotonicMs()
  const assertion = await new SignJWT({ scope: SCOPE })
    .setProtectedHeader({ alg: 'RS256', typ: 'JWT', ...(privateKeyId === null ? {} : { kid: privateKeyId }) })
    .setIssuer(clientEmail)
    .setAudience(tokenUrl)
    .setIssuedAt(now)
    .setExpirationTime(now + LIFE_SECONDS)
    .sign(privateKey)
  const body = new URLSearchParams({ grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion })
  const { status, json, retryAfterMs, durationMs } = await askProvider(app, {
    url: tokenUrl,
    body,
    group: 'fcm access',
  })
  const granted = Granted.safeParse(json)
  if (status === 200 && granted.success) {
    const { access_token: token, expires_in: lifeSeconds } = granted.data
    return { token, untilMs: askedMs + lifeSeconds * 1_000 - MARGIN_MS }
  }
  const refused = Refused.safeParse(json).data
  const why = refused === undefined ? '' : `: ${refused.error} ${refused.error_description}`.trimEnd()
  throw new FcmAccessError(`Google answered ${status} to the service account${why}.`, {
    status,
    retryAfterMs,
    durationMs,
  })
}

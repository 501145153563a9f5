import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { jwtVerify } from 'jose'
import { z } from 'zod'
import { type Answer, type ReceivedRequest, type Receiver, startReceiver } from './receiver.ts'

/** Firebase Cloud Messaging, HTTP v1, and the token endpoint of Google, as their references describe them. */

const Notification = z.strictObject({ title: z.string(), body: z.string() })
const Message = z.strictObject({
  message: z.strictObject({
    token: z.string(),
    notification: Notification,
    data: z.record(z.string(), z.string()),
    android: z.strictObject({
      priority: z.enum(['NORMAL', 'HIGH']),
      ttl: z.string().regex(/^\d+(\.\d+)?s$/),
      notification: z.strictObject({ sound: z.string() }),
    }),
    apns: z.strictObject({ headers: z.record(z.string(), z.string()), payload: z.record(z.string(), z.unknown()) }),
    webpush: z.strictObject({ headers: z.record(z.string(), z.string()) }),
  }),
})
export type FcmMessage = z.infer<typeof Message>['message']

const MAX_PAYLOAD_BYTES = 4_096
const FCM_ERROR = 'type.googleapis.com/google.firebase.fcm.v1.FcmError'

/** The service's answer to a token. */
export type FcmToken = 'unregistered' | 'invalid' | 'other sender'

export type FakeFcm = {
  readonly url: string
  /** The key of the service account, as Google's console gives it out. */
  readonly serviceAccount: string
  readonly taken: FcmMessage[]
  /** Access tokens given out. */
  readonly granted: string[]
  readonly tokens: Map<string, FcmToken>
  /** How long access tokens live. */
  lifeSeconds: number
  /** Answers requests to send so, instead of the service. */
  fault: Answer | undefined
  /** Answers requests for an access token so. */
  accessFault: Answer | undefined
  /** No access token that was given out so far is accepted any more. */
  revokeAccess(): void
  readonly receiver: Receiver
}

const PROJECT = 'shop-1234'
const CLIENT = `push@${PROJECT}.iam.gserviceaccount.com`
const KEY_ID = 'f2a1'

export async function fakeFcm(t: {
  onClose(work: () => Promise<void>): void
  readonly now: () => Date
}): Promise<FakeFcm> {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const access = new Map<string, number>()

  const json = (status: number, body: unknown): Answer => ({
    status,
    headers: { 'content-type': 'application/json; charset=UTF-8' },
    body: JSON.stringify(body),
  })
  const refuse = (code: number, status: string, message: string, details: readonly unknown[] = []): Answer =>
    json(code, { error: { code, message, status, ...(details.length === 0 ? {} : { details }) } })
  const fcmError = (errorCode: string) => ({ '@type': FCM_ERROR, errorCode })

  const grant = async ({ headers, body }: ReceivedRequest): Promise<Answer> => {
    const form = new URLSearchParams(body.toString())
    const invalid = (text: string) => json(400, { error: 'invalid_grant', error_description: text })
    if (headers['content-type'] !== 'application/x-www-form-urlencoded') return invalid('content type')
    if (form.get('grant_type') !== 'urn:ietf:params:oauth:grant-type:jwt-bearer')
      return json(400, { error: 'unsupported_grant_type' })
    try {
      const { payload, protectedHeader } = await jwtVerify(form.get('assertion') ?? '', publicKey, {
        algorithms: ['RS256'],
        typ: 'JWT',
        issuer: CLIENT,
        audience: `${fcm.url}/token`,
        currentDate: t.now(),
        requiredClaims: ['exp', 'iat', 'scope'],
      })
      const { exp = 0, iat = 0, scope } = payload
      if (protectedHeader.kid !== KEY_ID) return invalid('Invalid JWT Signature.')
      if (exp - iat > 3_600) return invalid('Invalid JWT: Token must be a short-lived token (60 minutes).')
      if (scope !== 'https://www.googleapis.com/auth/firebase.messaging') return invalid('Invalid scope.')
    } catch {
      return invalid('Invalid JWT Signature.')
    }
    const token = `ya29.${randomBytes(24).toString('base64url')}`
    access.set(token, t.now().getTime() + fcm.lifeSeconds * 1_000)
    fcm.granted.push(token)
    return json(200, { access_token: token, expires_in: fcm.lifeSeconds, token_type: 'Bearer' })
  }

  const send = ({ headers, body }: ReceivedRequest): Answer => {
    const [, token = ''] = /^Bearer (\S+)$/.exec(headers.authorization?.toString() ?? '') ?? []
    if ((access.get(token) ?? 0) <= t.now().getTime())
      return refuse(401, 'UNAUTHENTICATED', 'Request had invalid authentication credentials.')
    const parsed = Message.safeParse(JSON.parse(body.toString()))
    if (!parsed.success) return refuse(400, 'INVALID_ARGUMENT', 'Invalid JSON payload received.')
    const { message } = parsed.data
    if (Buffer.byteLength(JSON.stringify([message.notification, message.data])) > MAX_PAYLOAD_BYTES)
      return refuse(400, 'INVALID_ARGUMENT', 'Android message is too big', [fcmError('INVALID_ARGUMENT')])
    switch (fcm.tokens.get(message.token)) {
      case 'unregistered':
        return refuse(404, 'NOT_FOUND', 'Requested entity was not found.', [fcmError('UNREGISTERED')])
      case 'invalid':
        return refuse(400, 'INVALID_ARGUMENT', 'The registration token is not a valid FCM registration token', [
          fcmError('INVALID_ARGUMENT'),
          {
            '@type': 'type.googleapis.com/google.rpc.BadRequest',
            fieldViolations: [{ field: 'message.token', description: `Invalid registration token ${message.token}` }],
          },
        ])
      case 'other sender':
        return refuse(403, 'PERMISSION_DENIED', 'SenderId mismatch', [fcmError('SENDER_ID_MISMATCH')])
      case undefined:
        fcm.taken.push(message)
        return json(200, { name: `projects/${PROJECT}/messages/${fcm.taken.length}` })
    }
  }

  const receiver = await startReceiver({
    respond: (request) => {
      if (request.method !== 'POST') return 405
      if (request.path === '/token') return fcm.accessFault ?? grant(request)
      if (request.path !== `/v1/projects/${PROJECT}/messages:send`) return 404
      return fcm.fault ?? send(request)
    },
  })
  t.onClose(() => receiver.close())
  const fcm: FakeFcm = {
    url: receiver.url,
    serviceAccount: JSON.stringify({
      type: 'service_account',
      project_id: PROJECT,
      private_key_id: KEY_ID,
      private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
      client_email: CLIENT,
      token_uri: `${receiver.url}/token`,
    }),
    taken: [],
    granted: [],
    tokens: new Map(),
    lifeSeconds: 3_599,
    fault: undefined,
    accessFault: undefined,
    revokeAccess: () => access.clear(),
    receiver,
  }
  return fcm
}

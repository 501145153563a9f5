import { z } from 'zod'
import type { FcmSettings } from '../../config/firebase.ts'
import type { App } from '../../platform/context/app.ts'
import type { AttemptResult } from '../../platform/outbox/channel.ts'
import type { Push } from './expo.ts'
import { fcmAccessToken, FcmAccessError, forgetFcmAccess } from './fcm-access.ts'
import { askProvider, failed, failedWithoutAnswer, type ProviderAnswer } from './provider-request.ts'

/** Pushes through Firebase, HTTP v1: https://firebase.google.com/docs/reference/fcm/rest/v1/projects.messages */

const LIFE_SECONDS = 86_400

const Sent = z.object({ name: z.string() })

/** The form of all errors of Google; FCM adds a code of its own, and which field is wrong. */
const Failure = z.object({
  error: z.object({
    message: z.string().default(''),
    status: z.string().default(''),
    details: z
      .array(
        z.looseObject({
          '@type': z.string().default(''),
          errorCode: z.string().optional(),
          fieldViolations: z.array(z.looseObject({ field: z.string().default('') })).optional(),
        }),
      )
      .default([]),
  }),
})

/** A delivered result has `message_name`; one of a dead token `is_dead`. */
export async function sendToFcm(app: App, fcm: FcmSettings, group: string, push: Push): Promise<AttemptResult> {
  let answer: ProviderAnswer
  try {
    const access = await fcmAccessToken(app, fcm)
    const url = `${fcm.baseUrl}/v1/projects/${fcm.projectId}/messages:send`
    answer = await askProvider(app, {
      url,
      headers: { authorization: `Bearer ${access}` },
      body: requestOf(push),
      group,
    })
  } catch (error) {
    if (error instanceof FcmAccessError) return failed('FCM_ACCESS', error.message, error.result)
    return failedWithoutAnswer(error)
  }
  const { status, json, durationMs } = answer
  const sent = status === 200 ? Sent.safeParse(json) : undefined
  if (sent?.success === true) {
    const details = { message_name: sent.data.name }
    return { outcome: 'delivered', status, errorCode: null, errorText: null, durationMs, details }
  }
  // The token was revoked, or the key of the account: the next attempt takes a new one.
  if (status === 401) forgetFcmAccess(app)
  return failureOf(answer, push.token)
}

const requestOf = ({ token, title, body, data }: Push) => ({
  message: {
    token,
    notification: { title, body },
    data,
    android: { priority: 'HIGH', ttl: `${LIFE_SECONDS}s`, notification: { sound: 'default' } },
    apns: { headers: { 'apns-priority': '10' }, payload: { aps: { sound: 'default' } } },
    webpush: { headers: { TTL: String(LIFE_SECONDS), Urgency: 'high' } },
  },
})

function failureOf({ status, json, retryAfterMs, durationMs }: ProviderAnswer, token: string): AttemptResult {
  const error = Failure.safeParse(json).data?.error
  const code = error?.details.find(({ errorCode }) => errorCode !== undefined)?.errorCode ?? error?.status
  const isAboutToken =
    error?.details.some(({ fieldViolations = [] }) =>
      fieldViolations.some(({ field }) => field === 'message.token'),
    ) === true || /registration token/i.test(error?.message ?? '')
  // A 404 without an error of Google's is a wrong address, which says nothing about the device.
  const isDead =
    code === 'UNREGISTERED' || (status === 404 && code === 'NOT_FOUND') || (code === 'INVALID_ARGUMENT' && isAboutToken)
  const text = error?.message.replaceAll(token, '…') ?? `Firebase answered ${status}.`
  return failed(code ?? `HTTP_${status}`, text, {
    status,
    durationMs,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(isDead || code === 'INVALID_ARGUMENT' || code === 'SENDER_ID_MISMATCH' ? { isFinal: true } : {}),
    details: isDead ? { is_dead: true } : {},
  })
}

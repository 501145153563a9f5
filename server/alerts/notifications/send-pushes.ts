import { z } from 'zod'
import type { App } from '../../platform/context/app.ts'
import type { AttemptResult } from '../../platform/outbox/channel.ts'
import { MAX_MESSAGES, type Push, sendToExpo } from './expo.ts'
import { sendToFcm } from './fcm.ts'
import { failed } from './provider-request.ts'
import type { Target } from './read-targets.ts'

/** The details of a push that its attempt keeps. */
export const PushDetails = z.object({
  device_id: z.uuid().optional(),
  /** Expo tells later, by its receipt, whether the push arrived. */
  ticket_id: z.string().optional(),
  message_name: z.string().optional(),
  /** The provider says that the token will never work again. */
  is_dead: z.boolean().optional(),
})

type SendPush = (target: Target, content: Omit<Push, 'token'>, group: string) => Promise<AttemptResult>

const NOT_CONFIGURED = {
  expo: failed('EXPO_NOT_CONFIGURED', 'Pushes through Expo are switched off: EXPO_BASE_URL is not set.', {
    isFinal: true,
  }),
  fcm: failed('FCM_NOT_CONFIGURED', 'Pushes through Firebase are switched off: FCM_SERVICE_ACCOUNT is not set.', {
    isFinal: true,
  }),
}
const UNREADABLE = failed('TOKEN_UNREADABLE', 'The token of the device cannot be read. Register it again.', {
  isFinal: true,
})

type Waiting = {
  readonly push: Push
  readonly group: string
  readonly settle: (result: Promise<AttemptResult>) => void
}

/** Sends pushes; those to Expo that are given in one step and have one group share requests. */
export function createPushSender(app: App): SendPush {
  const { expo, fcm } = app.config.push
  let waiting: Waiting[] = []

  const flush = (): void => {
    const taken = waiting
    waiting = []
    if (expo === null) return
    for (const [group, ofGroup] of Map.groupBy(taken, (one) => one.group))
      for (let from = 0; from < ofGroup.length; from += MAX_MESSAGES) {
        const part = ofGroup.slice(from, from + MAX_MESSAGES)
        const results = sendToExpo(
          app,
          expo,
          group,
          part.map(({ push }) => push),
        )
        for (const [index, { settle }] of part.entries())
          settle(results.then((all) => all[index] ?? failed('EXPO_ERROR', 'Expo gave no answer for this push.')))
      }
  }

  const viaExpo = (push: Push, group: string): Promise<AttemptResult> => {
    const { promise, resolve } = Promise.withResolvers<AttemptResult>()
    if (waiting.push({ push, group, settle: resolve }) === 1) queueMicrotask(flush)
    return promise
  }

  return async ({ deviceId, provider, token }, content, group) => {
    if (app.config.push[provider] === null) return NOT_CONFIGURED[provider]
    if (token === null) return UNREADABLE
    const push = { ...content, token }
    const result =
      provider === 'expo' || fcm === null ? await viaExpo(push, group) : await sendToFcm(app, fcm, group, push)
    return { ...result, details: { device_id: deviceId, ...result.details } }
  }
}

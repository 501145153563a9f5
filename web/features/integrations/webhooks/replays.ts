import { useMutation, useQueryClient } from '@tanstack/react-query'
import { call } from '../../../api/call.ts'
import { errorSentence, useChange } from '../../../api/change.ts'
import { addToast } from '../../../ui/toasts.tsx'
import { webhooksTexts } from './texts.ts'

const texts = webhooksTexts.deliveries

/** Sends one delivery again, at most once per press. */
export function useReplay(deliveryId: string) {
  return useChange({
    send: ({ retries }: { retries: boolean }) =>
      call('POST /api/webhook-deliveries/:deliveryId/replay', { params: { deliveryId }, body: { retries } }),
    same: () => deliveryId,
    touches: () => [['webhooks']],
    said: () => texts.replayed,
    failed: texts.notReplayed,
  })
}

/** Sends up to a hundred deliveries again. */
export function useReplayMany() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (ids: readonly string[]) => call('POST /api/webhook-deliveries/replay', { body: { ids: [...ids] } }),
    onSuccess: ({ items }) => {
      const accepted = items.filter(({ result }) => result === 'accepted' || result === 'accepted_in_flight').length
      const refused = items.length - accepted
      addToast({
        text: [
          ...(accepted === 0 ? [] : [`${texts.replayedMany(accepted)}.`]),
          ...(refused === 0 ? [] : [texts.someRefused(refused)]),
        ].join(' '),
        tone: accepted === 0 ? 'bad' : 'good',
      })
    },
    onError: (error) => addToast({ text: `${texts.notReplayed} ${errorSentence(error)}`, tone: 'bad' }),
    onSettled: () => client.invalidateQueries({ queryKey: ['webhooks'] }),
  })
}

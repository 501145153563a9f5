import type { IconName } from '../../ui/icon.tsx'

/** How the state of a delivery looks. */
export type DeliveryLook = { tone: 'blue' | 'slate' | 'green' | 'red'; icon: IconName; text: string }

/** Whether the text of its state counts down. */
export const isCounting = ({
  state,
  next_attempt_at: nextAt,
}: {
  state: string
  next_attempt_at: string | null
}): boolean => state === 'failed' && nextAt !== null

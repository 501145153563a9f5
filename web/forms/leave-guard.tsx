import { useBlocker } from '@tanstack/react-router'
import { ConfirmDialog } from './confirm-dialog.tsx'

type LeaveGuardProps = { title: string; text: string; stay: string; leave: string }

/** Asks before the page is left. Another selection on the page does not leave it. */
export function LeaveGuard({ title, text, stay, leave }: LeaveGuardProps) {
  const leaving = useBlocker({
    shouldBlockFn: ({ current, next }) => current.pathname !== next.pathname,
    enableBeforeUnload: true,
    withResolver: true,
  })
  return (
    <ConfirmDialog
      open={leaving.status === 'blocked'}
      title={title}
      text={text}
      cancel={stay}
      submit={leave}
      onConfirm={() => leaving.proceed?.()}
      onClose={() => leaving.reset?.()}
    />
  )
}

import { useBlocker } from '@tanstack/react-router'
import { useRef } from 'react'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Toolbar } from '../../ui/stack.tsx'
import { builderTexts as texts } from './builder-texts.ts'

/** Asks before a page with unsaved changes is left; `allow` lets the navigation after a save pass. */
export function useLeaving(isDirty: boolean) {
  const isAllowed = useRef(false)
  const blocker = useBlocker({
    shouldBlockFn: ({ current, next }) => isDirty && !isAllowed.current && current.pathname !== next.pathname,
    enableBeforeUnload: () => isDirty,
    withResolver: true,
  })
  return {
    isAsking: blocker.status === 'blocked',
    stay: () => blocker.reset?.(),
    leave: () => blocker.proceed?.(),
    allow: () => {
      isAllowed.current = true
    },
  }
}

export const LeaveDialog = ({ leaving }: { leaving: ReturnType<typeof useLeaving> }) => (
  <Dialog open={leaving.isAsking} onClose={leaving.stay} title={texts.leaveTitle}>
    <p>{texts.leaveText}</p>
    <Toolbar align="end">
      <Button data-autofocus onClick={leaving.stay}>
        {texts.stay}
      </Button>
      <Button look="danger" onClick={leaving.leave}>
        {texts.leaveNow}
      </Button>
    </Toolbar>
  </Dialog>
)

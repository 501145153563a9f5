import { useBlocker } from '@tanstack/react-router'
import { createContext, use, useId, useLayoutEffect, useState, type ReactNode } from 'react'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Toolbar } from '../ui/stack.tsx'
import { commonTexts } from './texts.ts'

const texts = commonTexts.unsaved

/** The forms of a page with unsaved changes. */
const Unsaved = createContext<Set<string> | null>(null)

/** Asks before the page is left while a form inside has unsaved changes: by a link, Back, or closing the tab. */
export function UnsavedGuard({ children }: { children: ReactNode }) {
  const [dirty] = useState(() => new Set<string>())
  const leaving = useBlocker({
    shouldBlockFn: ({ current, next }) => dirty.size > 0 && current.pathname !== next.pathname,
    enableBeforeUnload: () => dirty.size > 0,
    withResolver: true,
  })
  return (
    <Unsaved value={dirty}>
      {children}
      <Dialog open={leaving.status === 'blocked'} onClose={() => leaving.reset?.()} title={texts.title}>
        <p>{texts.lost}</p>
        <Toolbar align="end">
          <Button onClick={() => leaving.reset?.()}>{texts.stay}</Button>
          <Button look="danger" onClick={() => leaving.proceed?.()}>
            {texts.leave}
          </Button>
        </Toolbar>
      </Dialog>
    </Unsaved>
  )
}

/** Tells the guard around the page whether this form has unsaved changes. */
export function useUnsaved(isDirty: boolean): void {
  const dirty = use(Unsaved)
  const id = useId()
  useLayoutEffect(() => {
    if (!isDirty || dirty === null) return undefined
    dirty.add(id)
    return () => void dirty.delete(id)
  }, [dirty, id, isDirty])
}

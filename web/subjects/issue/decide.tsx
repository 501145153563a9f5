import { createContext, lazy, Suspense, use, useCallback, useState, type ReactNode } from 'react'
import type { Edit } from './changes.ts'

/** The dialog for decisions with a value: another release, a commit, a count, a date. */

export type Ask = 'release' | 'commit' | 'count' | 'users' | 'time'

type Asked = {
  readonly ask: Ask
  /** The proposed release. */
  readonly release: string | null
  readonly onEdit: (edit: Edit) => void
}

const Context = createContext<(asked: Asked) => void>(() => undefined)

/** Returns a function that opens the dialog; the result is passed to `onEdit`. */
export const useAsk = (): ((asked: Asked) => void) => use(Context)

const DecideDialog = lazy(() => import('./decide-dialog.tsx').then((module) => ({ default: module.IssueDecideDialog })))

/** Renders the dialog for all menus of the page, because rows and their menus unmount. */
export function AskProvider({ children }: { children: ReactNode }) {
  const [asked, setAsked] = useState<Asked | null>(null)
  const close = useCallback(() => setAsked(null), [])
  return (
    <Context value={setAsked}>
      {children}
      {asked === null ? null : (
        <Suspense fallback={null}>
          <DecideDialog
            ask={asked.ask}
            release={asked.release}
            onClose={close}
            onEdit={(edit) => {
              close()
              asked.onEdit(edit)
            }}
          />
        </Suspense>
      )}
    </Context>
  )
}

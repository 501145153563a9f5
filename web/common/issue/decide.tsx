import { createContext, lazy, Suspense, use, useCallback, useState, type ReactNode } from 'react'
import type { Edit } from './changes.ts'

/** Decisions that need a word more: another release, a commit, how many events, until when. */

export type Ask = 'release' | 'commit' | 'count' | 'users' | 'time'

type Asked = {
  readonly ask: Ask
  /** Proposed where a release is asked for. */
  readonly release: string | null
  readonly onEdit: (edit: Edit) => void
}

const Context = createContext<(asked: Asked) => void>(() => undefined)

/** Opens the dialog; what is entered there goes to `onEdit`. */
export const useAsk = (): ((asked: Asked) => void) => use(Context)

const DecideDialog = lazy(() => import('./decide-dialog.tsx').then((module) => ({ default: module.IssueDecideDialog })))

/** Holds the dialog for every menu on the page: rows and their menus come and go. */
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

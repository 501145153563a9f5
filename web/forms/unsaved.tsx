import { useBlocker } from '@tanstack/react-router'
import { createContext, use, useEffectEvent, useId, useLayoutEffect, useState, type ReactNode } from 'react'
import { useKeys } from '../app/keys.ts'
import { formTexts } from './form-texts.ts'
import { ConfirmDialog } from './confirm-dialog.tsx'

const texts = formTexts.unsaved

/** The forms of a page. */
type Forms = {
  /** Forms with unsaved changes, and the function that saves each. */
  readonly dirty: Map<string, () => void>
  /** Lets the next navigation pass: after a save that leads to another page. */
  readonly allow: () => void
  /** A form that can be saved appeared (1) or disappeared (-1). */
  readonly onSavable: (by: 1 | -1) => void
}
const Unsaved = createContext<Forms | null>(null)

/** Where a change of it discards what was typed: the page, and the project that it is about. */
const placeOf = ({ pathname, search }: { pathname: string; search: object }): string =>
  `${pathname} ${'project' in search ? String(search.project) : ''}`

/**
 * Asks before the page is left while a form inside has unsaved changes: by a link, Back, or closing the tab. Ctrl S saves
 * the forms with changes.
 */
export function UnsavedGuard({ children }: { children: ReactNode }) {
  const [savable, setSavable] = useState(0)
  const [state] = useState(() => ({ isAllowed: false }))
  const [forms] = useState((): Forms => ({
    dirty: new Map(),
    allow: () => {
      state.isAllowed = true
    },
    onSavable: (by) => setSavable((count) => count + by),
  }))
  const leaving = useBlocker({
    shouldBlockFn: ({ current, next }) =>
      forms.dirty.size > 0 && !state.isAllowed && placeOf(current) !== placeOf(next),
    enableBeforeUnload: () => forms.dirty.size > 0,
    withResolver: true,
  })
  const saveAll = () => {
    for (const save of forms.dirty.values()) save()
  }
  useKeys(savable === 0 ? [] : [{ keys: 'mod+s', label: texts.keys, group: 'Page', whileTyping: true, run: saveAll }])
  return (
    <Unsaved value={forms}>
      {children}
      <ConfirmDialog
        open={leaving.status === 'blocked'}
        title={texts.title}
        text={texts.lost}
        cancel={texts.stay}
        submit={texts.leave}
        onConfirm={() => leaving.proceed?.()}
        onClose={() => leaving.reset?.()}
      />
    </Unsaved>
  )
}

/**
 * Reports to the guard around the page whether this form has unsaved changes.
 * @param save absent where a form is sent rather than saved, such as a change of password
 * @returns lets the next navigation pass
 */
export function useUnsaved(isDirty: boolean, save?: () => void): () => void {
  const forms = use(Unsaved)
  const id = useId()
  const saveNow = useEffectEvent(() => save?.())
  const canSave = save !== undefined
  useLayoutEffect(() => {
    if (!isDirty || forms === null) return undefined
    forms.dirty.set(id, () => saveNow())
    return () => void forms.dirty.delete(id)
  }, [forms, id, isDirty])
  useLayoutEffect(() => {
    if (!canSave || forms === null) return undefined
    forms.onSavable(1)
    return () => forms.onSavable(-1)
  }, [forms, canSave])
  return () => forms?.allow()
}

import { useRef, useState, type RefObject } from 'react'
import { focusFirstInvalid } from '../ui/field.tsx'

/** Sends a draft; a result of `useChange` is one. */
type Save<Draft, Answer> = {
  mutate: (draft: Draft, then: { onSuccess: (answer: Answer) => void; onError: () => void }) => void
  reset: () => void
  error: Error | null
  isPending: boolean
}

type FormModelOptions<Draft, Answer> = {
  /** The draft that would change nothing. */
  stored: Draft
  save: Save<Draft, Answer>
  /** The draft that an answer is. */
  draftOf: (answer: Answer) => Draft
  /** Whether both drafts would store the same; by default if their JSON is equal. */
  isSame?: (draft: Draft, stored: Draft) => boolean
  /** Whether no field is wrong; only such a draft is sent. */
  isWhole?: (draft: Draft) => boolean
  /** Saves without changes too, such as what does not exist yet. */
  always?: boolean
  /** Why the user may not save. */
  why?: string | undefined
  /** Results of the draft before end with it. */
  onChange?: () => void
  onSaved?: (answer: Answer) => void
}

/** The state of a form that is saved, for the element around its fields and for its foot. */
export type FormState = {
  formRef: RefObject<HTMLFormElement | null>
  dirty: boolean
  busy: boolean
  why: string | undefined
  always: boolean
  /** By button, Enter or Ctrl S. */
  onSave: () => void
  onDiscard: () => void
}

const isEqual = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other)

/**
 * The draft of something that is stored: changed, checked, saved, or discarded. What is typed while it is being saved
 * stays. `SaveFoot` asks before the page is left with changes.
 */
export function useFormModel<Draft, Answer>({
  stored,
  save,
  draftOf,
  isSame = isEqual,
  isWhole = () => true,
  always = false,
  why,
  onChange,
  onSaved,
}: FormModelOptions<Draft, Answer>) {
  const [draft, setDraft] = useState(stored)
  const [tried, setTried] = useState(false)
  const formRef = useRef<HTMLFormElement>(null)
  const dirty = !isSame(draft, stored)
  const focusInvalid = () => {
    if (formRef.current !== null) focusFirstInvalid(formRef.current)
  }
  const forget = () => {
    onChange?.()
    if (save.error !== null) save.reset()
  }
  const check = (): boolean => {
    const fits = isWhole(draft)
    setTried(!fits)
    if (!fits) focusInvalid()
    return fits
  }
  const form: FormState = {
    formRef,
    dirty,
    busy: save.isPending,
    why,
    always,
    onSave: () => {
      if ((!dirty && !always) || why !== undefined || save.isPending || !check()) return
      save.mutate(draft, {
        onSuccess: (answer) => {
          setDraft((now) => (now === draft ? draftOf(answer) : now))
          onSaved?.(answer)
        },
        onError: focusInvalid,
      })
    },
    onDiscard: () => {
      setDraft(stored)
      setTried(false)
      forget()
    },
  }
  return {
    draft,
    change: (next: Draft) => {
      setDraft(next)
      forget()
    },
    /** Changes some fields of the draft. */
    set: (part: Partial<Draft>) => {
      setDraft((before) => ({ ...before, ...part }))
      forget()
    },
    /** Whether a wrong draft was to be saved: from then on fields say what is wrong. */
    tried,
    /** Returns whether no field is wrong; otherwise moves the focus to the first that is. */
    check,
    /** Why the last attempt failed. */
    error: save.error,
    form,
  }
}

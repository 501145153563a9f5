import type { ReactNode } from 'react'
import { Button } from '../ui/button.tsx'
import { CardFooter } from '../ui/card.tsx'
import { Kbd } from '../ui/kbd.tsx'
import { appTexts } from '../app/texts.ts'
import { formTexts } from './form-texts.ts'
import { useUnsaved } from './unsaved.tsx'

const texts = formTexts.unsaved

type SaveFootProps = {
  dirty: boolean
  busy: boolean
  /** Why the user may not save. */
  why?: string | undefined
  /** The problem that must be mended before it is saved. */
  problem?: string | undefined
  /** By Ctrl S; the button submits the form around it. */
  onSave: () => void
  /** Shows what is stored again. */
  onDiscard: () => void
  save?: string
  /** Saves without changes too, such as what does not exist yet. */
  always?: boolean
  /** Other buttons, before these. */
  children?: ReactNode
}

/** The foot of every form of settings: whether it has unsaved changes, and the buttons that discard and save them. */
export function SaveFoot({
  dirty,
  busy,
  why,
  problem,
  onSave,
  onDiscard,
  save = appTexts.save,
  always = false,
  children,
}: SaveFootProps) {
  useUnsaved(dirty && why === undefined, onSave)
  const canSave = dirty || always
  return (
    <CardFooter
      note={
        dirty ? (
          <>
            <span>{texts.mark}</span> <Kbd keys="mod+s" />
          </>
        ) : null
      }
    >
      {children}
      {dirty ? (
        <Button size="sm" onClick={onDiscard}>
          {texts.discard}
        </Button>
      ) : null}
      <Button
        type="submit"
        size="sm"
        look={canSave ? 'primary' : 'plain'}
        busy={busy}
        why={why ?? (canSave ? problem : appTexts.saved)}
      >
        {save}
      </Button>
    </CardFooter>
  )
}

import { useLayoutEffect, useRef, useState, type KeyboardEvent, type RefObject } from 'react'
import { useOptionList } from '../../../../ui/combobox.ts'
import type { Member } from '../../../../api/member-queries.ts'
import { Avatar } from '../../../../ui/avatar.tsx'
import { Minor } from '../../../../ui/text.tsx'
import { commentsTexts } from './texts.ts'
import { displayName } from '../../../../subjects/members/names.ts'
import { typedMention, withMention, writtenAs } from '../../../../subjects/members/model.ts'
import { useMembers } from '../../../../subjects/members/use-members.ts'
import styles from './mention-field.module.css'
import optionStyles from '../../../../subjects/members/options.module.css'
import choiceStyles from '../../../../ui/choice.module.css'
import { classNames } from '../../../../ui/class-names.ts'
import fitStyles from '../../../../ui/fit.module.css'
import typeStyles from '../../../../ui/type.module.css'

const MAX_SHOWN = 6

type MentionFieldProps = {
  label: string
  value: string
  onChange: (value: string) => void
  field?: RefObject<HTMLTextAreaElement | null>
  placeholder?: string
  rows?: number
  disabled?: boolean
  title?: string | undefined
  onSubmit: () => void
  /** Called on Escape when no list is open. */
  onCancel?: () => void
}

/** A text field in which `@` lists members: arrow keys choose, Enter or Tab inserts, Escape closes the list. */
export function MentionField({ label, value, onChange, onSubmit, onCancel, field, ...rest }: MentionFieldProps) {
  const own = useRef<HTMLTextAreaElement>(null)
  const box = field ?? own
  const [caret, setCaret] = useState<number | null>(null)
  /** The index of the `@` whose list was closed. */
  const [closedAt, setClosedAt] = useState<number | null>(null)
  const typed = caret === null ? null : typedMention(value, caret)
  const isWanted = typed !== null && typed.at !== closedAt
  const { me, members, all } = useMembers(isWanted ? typed.text : null)
  const shown = isWanted ? members.filter(({ id }) => id !== me).slice(0, MAX_SHOWN) : []
  const { at, setAt, step: stepBy, listId, optionId, list } = useOptionList(shown.length)

  // Set after the field has the new text, or the browser moves the caret to its end.
  const caretNext = useRef<number | null>(null)
  useLayoutEffect(() => {
    if (caretNext.current === null) return
    box.current?.setSelectionRange(caretNext.current, caretNext.current)
    caretNext.current = null
  }, [value, box])

  const take = (member: Member | undefined) => {
    if (member === undefined || typed === null || caret === null) return
    const next = withMention(value, caret, typed, writtenAs(member, all))
    caretNext.current = next.caret
    setCaret(next.caret)
    onChange(next.value)
    box.current?.focus()
  }
  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
      event.preventDefault()
      onSubmit()
      return
    }
    if (shown.length === 0) {
      if (event.key === 'Escape') (onCancel ?? (() => box.current?.blur()))()
      return
    }
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (step !== 0) stepBy(step)
    else if ((event.key === 'Enter' || event.key === 'Tab') && !event.shiftKey) take(shown[at])
    else if (event.key === 'Escape') setClosedAt(typed?.at ?? null)
    else return
    event.preventDefault()
    event.stopPropagation()
  }
  const follow = () => setCaret(box.current?.selectionStart ?? null)

  return (
    <div className={fitStyles.relative}>
      <textarea
        rows={2}
        {...rest}
        ref={box}
        value={value}
        aria-label={label}
        aria-autocomplete="list"
        aria-controls={shown.length === 0 ? undefined : listId}
        aria-activedescendant={shown.length === 0 ? undefined : optionId(at)}
        onChange={(event) => {
          onChange(event.target.value)
          setCaret(event.target.selectionStart)
          setAt(0)
          if (typedMention(event.target.value, event.target.selectionStart)?.at !== closedAt) setClosedAt(null)
        }}
        onSelect={follow}
        onBlur={() => setCaret(null)}
        onKeyDown={onKeyDown}
      />
      <span className={typeStyles.hidden} role="status">
        {shown.length === 0 ? '' : commentsTexts.mentionFound(shown.length)}
      </span>
      {shown.length === 0 ? null : (
        <div
          className={classNames(optionStyles.options, choiceStyles.pressedItems, styles.list)}
          role="listbox"
          ref={list}
          id={listId}
          aria-label={commentsTexts.mentionList}
        >
          {shown.map((member, index) => (
            // The field keeps the focus and handles Enter; this handles the pointer.
            <div
              key={member.id}
              id={optionId(index)}
              role="option"
              aria-selected={index === at}
              tabIndex={-1}
              onPointerMove={() => setAt(index)}
              // Before the field loses the focus.
              onPointerDown={(event) => {
                event.preventDefault()
                take(member)
              }}
            >
              <Avatar user={member} small quiet />
              <span className={classNames(optionStyles.label, fitStyles.fills, fitStyles.ellipsis)}>
                {displayName(member)}
              </span>
              <Minor className={styles.mail}>{member.email}</Minor>
            </div>
          ))}
        </div>
      )}
    </div>
  )
}

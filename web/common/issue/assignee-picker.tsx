import { useEffect, useEffectEvent, useId, useRef, useState, type KeyboardEvent } from 'react'
import type { Person } from './changes.ts'
import { useFirstFocus } from '../../ui/first-focus.ts'
import { Icon } from '../../ui/icon.tsx'
import { Avatar } from '../../ui/tiles.tsx'
import { issueTexts } from './texts.ts'
import { callName } from '../members/names.ts'
import { useMembers } from '../members/use-members.ts'
import styles from './assignee-picker.module.css'
import optionStyles from '../members/options.module.css'

type Choice = { key: string; label: string; note: string | undefined; person: Person | null }

type OwnerPickerProps = {
  /** Who owns it now; undefined where that differs. */
  ownerId: string | null | undefined
  onChoose: (person: Person | null) => void
}

/** Every member of the organisation, oneself first, nobody after; typing narrows them down. */
export function OwnerPicker({ ownerId, onChoose }: OwnerPickerProps) {
  const [text, setText] = useState('')
  const [chosen, setChosen] = useState(0)
  const listId = useId()
  const list = useRef<HTMLDivElement>(null)
  const root = useFirstFocus<HTMLDivElement>()
  const { me, members, known } = useMembers(text)
  const people = members.map((person): Choice => ({
    key: person.id,
    label: callName(person),
    note: person.id === me ? issueTexts.you : undefined,
    person: { id: person.id, name: person.name, email: person.email },
  }))
  const nobody: Choice = { key: 'nobody', label: issueTexts.nobody, note: undefined, person: null }
  const fits = issueTexts.nobody.toLowerCase().startsWith(text.trim().toLowerCase())
  const [own, ...others] = people
  // All at once: a choice that members push down as they come is not the one somebody saw and pressed Enter for.
  const choices = !known
    ? []
    : own?.key === me && own !== undefined
      ? [own, ...(fits ? [nobody] : []), ...others]
      : [...(fits ? [nobody] : []), ...people]
  const at = Math.min(chosen, choices.length - 1)
  const optionId = (index: number) => `${listId}-${index}`

  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' })
  }, [at])

  const choose = (choice: Choice | undefined) => choice !== undefined && onChoose(choice.person)
  // Keys that are faster than the members: steps are counted, and Enter waits for whom they lead to.
  const [hasty, setHasty] = useState(false)
  const chooseLate = useEffectEvent(() => choose(choices[at]))
  useEffect(() => {
    if (hasty && known) chooseLate()
  }, [hasty, known])

  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (step !== 0) {
      event.preventDefault()
      if (!known) setChosen(Math.max(0, chosen + step))
      else if (choices.length > 0) setChosen((at + step + choices.length) % choices.length)
    }
    if (event.key === 'Enter') {
      event.preventDefault()
      if (known) choose(choices[at])
      else setHasty(true)
    } else setHasty(false)
  }

  return (
    <>
      <div className={styles.search} ref={root}>
        <Icon name="search" />
        <input
          type="text"
          role="combobox"
          aria-label={issueTexts.findMember}
          aria-expanded="true"
          aria-controls={listId}
          aria-autocomplete="list"
          aria-activedescendant={choices.length === 0 ? undefined : optionId(at)}
          autoComplete="off"
          spellCheck={false}
          placeholder={issueTexts.findMember}
          value={text}
          onChange={(event) => {
            setText(event.target.value)
            setChosen(0)
          }}
          onKeyDown={onKeyDown}
        />
      </div>
      <div
        className={optionStyles.options}
        role="listbox"
        id={listId}
        aria-label={issueTexts.members}
        aria-busy={!known}
        ref={list}
      >
        {choices.map((choice, index) => (
          // The box keeps the focus and its Enter; the pointer is the second way.
          // oxlint-disable-next-line jsx-a11y/click-events-have-key-events
          <div
            key={choice.key}
            id={optionId(index)}
            role="option"
            aria-selected={index === at}
            tabIndex={-1}
            onClick={() => choose(choice)}
            onPointerMove={() => setChosen(index)}
          >
            <Avatar person={choice.person} small quiet />
            <span className={optionStyles.label}>{choice.label}</span>
            {choice.note === undefined ? null : <span className="sub">{choice.note}</span>}
            {(choice.person?.id ?? null) === ownerId ? <Icon name="check" label={issueTexts.current} /> : null}
          </div>
        ))}
      </div>
      {known && choices.length === 0 ? (
        <p className={styles.none} role="status">
          {issueTexts.noMember(text)}
        </p>
      ) : null}
    </>
  )
}

import { useState } from 'react'
import type { Person } from './changes.ts'
import { useCombobox } from '../../ui/combobox.ts'
import { useFirstFocus } from '../../ui/first-focus.ts'
import { Icon } from '../../ui/icon.tsx'
import { Avatar } from '../../ui/tiles.tsx'
import { changeTexts } from './change-texts.ts'
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
  const root = useFirstFocus<HTMLDivElement>()
  const { me, members, known } = useMembers(text)
  const people = members.map((person): Choice => ({
    key: person.id,
    label: callName(person),
    note: person.id === me ? changeTexts.you : undefined,
    person: { id: person.id, name: person.name, email: person.email },
  }))
  const nobody: Choice = { key: 'nobody', label: changeTexts.nobody, note: undefined, person: null }
  const fits = changeTexts.nobody.toLowerCase().startsWith(text.trim().toLowerCase())
  const [own, ...others] = people
  // All at once: a choice that members push down as they come is not the one somebody saw and pressed Enter for.
  const choices = !known
    ? []
    : own?.key === me && own !== undefined
      ? [own, ...(fits ? [nobody] : []), ...others]
      : [...(fits ? [nobody] : []), ...people]
  const box = useCombobox({
    options: known ? choices : null,
    onChoose: (choice) => onChoose(choice.person),
    text,
    onText: setText,
  })

  return (
    <>
      <div className={styles.search} ref={root}>
        <Icon name="search" />
        <input {...box.input} aria-label={changeTexts.findMember} placeholder={changeTexts.findMember} />
      </div>
      <div {...box.list} className={optionStyles.options} aria-label={changeTexts.members}>
        {choices.map((choice, index) => (
          <div key={choice.key} {...box.option(index)}>
            <Avatar person={choice.person} small quiet />
            <span className={optionStyles.label}>{choice.label}</span>
            {choice.note === undefined ? null : <span className="sub">{choice.note}</span>}
            {(choice.person?.id ?? null) === ownerId ? <Icon name="check" label={changeTexts.current} /> : null}
          </div>
        ))}
      </div>
      {known && choices.length === 0 ? (
        <p className={styles.none} role="status">
          {changeTexts.noMember(text)}
        </p>
      ) : null}
    </>
  )
}

import { useState } from 'react'
import type { Assignee } from './changes.ts'
import { useCombobox } from '../../ui/combobox.ts'
import { useFirstFocus } from '../../ui/first-focus.ts'
import { Icon } from '../../ui/icon.tsx'
import { Avatar } from '../../ui/avatar.tsx'
import choiceStyles from '../../ui/choice.module.css'
import { classNames } from '../../ui/class-names.ts'
import fitStyles from '../../ui/fit.module.css'
import { Minor } from '../../ui/text.tsx'
import { changeTexts } from './change-texts.ts'
import { displayName } from '../members/names.ts'
import { useMembers } from '../members/use-members.ts'
import styles from './assignee-picker.module.css'
import optionStyles from '../members/options.module.css'

type Choice = { key: string; label: string; note: string | undefined; assignee: Assignee | null }

type AssigneePickerProps = {
  /** The present assignee; undefined where the issues have different ones. */
  assigneeId: string | null | undefined
  onChoose: (assignee: Assignee | null) => void
}

/** Finds an assignee by typing: the user, unassigned, then all other members. */
export function AssigneePicker({ assigneeId, onChoose }: AssigneePickerProps) {
  const [text, setText] = useState('')
  const root = useFirstFocus<HTMLDivElement>()
  const { me, members, known } = useMembers(text)
  const found = members.map((member): Choice => ({
    key: member.id,
    label: displayName(member),
    note: member.id === me ? changeTexts.you : undefined,
    assignee: { id: member.id, name: member.name, email: member.email },
  }))
  const none: Choice = { key: 'none', label: changeTexts.unassigned, note: undefined, assignee: null }
  const fits = changeTexts.unassigned.toLowerCase().startsWith(text.trim().toLowerCase())
  const [own, ...others] = found
  // Nothing is shown before all members are known: choices must not move under a user who presses Enter.
  const choices = !known
    ? []
    : own?.key === me && own !== undefined
      ? [own, ...(fits ? [none] : []), ...others]
      : [...(fits ? [none] : []), ...found]
  const box = useCombobox({
    options: known ? choices : null,
    onChoose: (choice) => onChoose(choice.assignee),
    text,
    onText: setText,
  })

  return (
    <>
      <div className={styles.search} ref={root}>
        <Icon name="search" />
        <input {...box.input} aria-label={changeTexts.findMember} placeholder={changeTexts.findMember} />
      </div>
      <div
        {...box.list}
        className={classNames(optionStyles.options, choiceStyles.pressedItems)}
        aria-label={changeTexts.members}
      >
        {choices.map((choice, index) => (
          <div key={choice.key} {...box.option(index)}>
            <Avatar user={choice.assignee} small quiet />
            <span className={classNames(optionStyles.label, fitStyles.fills, fitStyles.ellipsis)}>{choice.label}</span>
            {choice.note === undefined ? null : <Minor>{choice.note}</Minor>}
            {(choice.assignee?.id ?? null) === assigneeId ? <Icon name="check" label={changeTexts.current} /> : null}
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

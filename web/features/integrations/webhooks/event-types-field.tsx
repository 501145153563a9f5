import { WEBHOOK_EVENTS } from '#shared/webhook-events.ts'
import { useId, useState } from 'react'
import choiceStyles from '../../../ui/choice.module.css'
import { classNames } from '../../../ui/class-names.ts'
import { FieldHint, FieldLegend, InputBox } from '../../../ui/field.tsx'
import fitStyles from '../../../ui/fit.module.css'
import { Icon } from '../../../ui/icon.tsx'
import { Segmented } from '../../../ui/segmented.tsx'
import { Minor } from '../../../ui/text.tsx'
import { matchingTypes } from './model.ts'
import { webhooksTexts } from './texts.ts'
import styles from './event-types-field.module.css'
import typeStyles from '../../../ui/type.module.css'

const texts = webhooksTexts.form

/** A test goes to its endpoint whatever the filter, so it is not a choice here. */
const CHOICES = WEBHOOK_EVENTS.filter(({ type }) => type !== 'webhook.test')

type EventTypesFieldProps = {
  isAll: boolean
  types: ReadonlySet<string>
  error: string | undefined
  onChange: (part: { isAll: boolean } | { types: ReadonlySet<string> }) => void
}

/** All event types, or some of them, found by typing. */
export function EventTypesField({ isAll, types, error, onChange }: EventTypesFieldProps) {
  const [text, setText] = useState('')
  const noteId = useId()
  const shown = matchingTypes(CHOICES, text)
  const toggle = (type: string, isChosen: boolean) => {
    const next = new Set(types)
    if (isChosen) next.add(type)
    else next.delete(type)
    onChange({ types: next })
  }
  return (
    <fieldset className={fitStyles.fieldset} aria-describedby={error === undefined ? undefined : noteId}>
      <FieldLegend>{texts.events}</FieldLegend>
      <Segmented
        label={texts.events}
        value={isAll ? 'all' : 'some'}
        options={[
          { value: 'all', label: texts.everything, title: texts.everythingHint },
          { value: 'some', label: texts.chosen },
        ]}
        onChange={(value) => onChange({ isAll: value === 'all' })}
      />
      {isAll ? (
        <FieldHint>{texts.everythingHint}.</FieldHint>
      ) : (
        <div className={styles.choice}>
          <div className={classNames(styles.search, fitStyles.icons14)}>
            <InputBox>
              <Icon name="search" className={typeStyles.quiet} />
              <input
                type="search"
                aria-label={texts.search}
                placeholder={texts.search}
                aria-invalid={error === undefined ? undefined : true}
                aria-describedby={error === undefined ? undefined : noteId}
                value={text}
                autoComplete="off"
                spellCheck={false}
                onChange={(event) => setText(event.target.value)}
              />
              <Minor role="status">{texts.selected(types.size)}</Minor>
            </InputBox>
          </div>
          <ul className={classNames(styles.types, choiceStyles.hoverItems)}>
            {shown.map(({ type, meaning }) => (
              <li key={type}>
                <label>
                  <input
                    type="checkbox"
                    checked={types.has(type)}
                    onChange={(event) => toggle(type, event.target.checked)}
                  />
                  <span className={typeStyles.mono}>{type}</span>
                  <Minor>{meaning}</Minor>
                </label>
              </li>
            ))}
          </ul>
          {shown.length === 0 ? <Minor as="p">{texts.noneFound(text)}</Minor> : null}
        </div>
      )}
      {error === undefined ? null : (
        <FieldHint id={noteId} role="alert" bad>
          <Icon name="warn" />
          {error}
        </FieldHint>
      )}
    </fieldset>
  )
}

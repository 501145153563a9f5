import { WEBHOOK_EVENTS } from '#shared/webhook-events.ts'
import { useState } from 'react'
import { Button } from '../../../ui/button.tsx'
import { Field } from '../../../ui/field.tsx'
import { Form, FormRow } from '../../../ui/form.tsx'
import { formatDay } from '../../../ui/format.ts'
import { Menu } from '../../../ui/menu.tsx'
import { useNow } from '../../../ui/now.ts'
import { Popover } from '../../../ui/popover.tsx'
import { Toolbar } from '../../../ui/stack.tsx'
import { Minor } from '../../../ui/text.tsx'
import { webhooksTexts } from './texts.ts'
import styles from './delivery-filters.module.css'

const texts = webhooksTexts.deliveries

type TypeFilterProps = { chosen: string | undefined; onChange: (type: string | undefined) => void }

/** Limits the log to one event type. */
export const TypeFilter = ({ chosen, onChange }: TypeFilterProps) => (
  <Menu
    label={texts.type}
    trigger={
      <Button size="sm" caret>
        {chosen ?? texts.anyType}
      </Button>
    }
    entries={[
      { label: texts.anyType, checked: chosen === undefined, onSelect: () => onChange(undefined) },
      { kind: 'separator' },
      ...WEBHOOK_EVENTS.map(({ type }) => ({ label: type, checked: type === chosen, onSelect: () => onChange(type) })),
    ]}
  />
)

type Days = { from: string | undefined; to: string | undefined }

/** Limits the log to some days. */
export function DateFilter({ from, to, onChange }: Days & { onChange: (days: Days) => void }) {
  const [isOpen, setOpen] = useState(false)
  const now = useNow('half-minute')
  const day = (date: string) => formatDay(date, now, 'utc')
  const shown =
    from !== undefined && to !== undefined
      ? texts.between(day(from), day(to))
      : from !== undefined
        ? texts.since(day(from))
        : to !== undefined
          ? texts.upTo(day(to))
          : texts.anyDate
  return (
    <Popover
      label={texts.dates}
      open={isOpen}
      onOpenChange={setOpen}
      trigger={
        <Button size="sm" caret>
          {shown}
        </Button>
      }
    >
      <DateForm
        from={from}
        to={to}
        onChange={(days) => {
          setOpen(false)
          onChange(days)
        }}
      />
    </Popover>
  )
}

function DateForm({ from, to, onChange }: Days & { onChange: (days: Days) => void }) {
  const [first, setFirst] = useState(from ?? '')
  const [last, setLast] = useState(to ?? '')
  const given = (text: string) => (text === '' ? undefined : text)
  return (
    <Form className={styles.dates} onSubmit={() => onChange({ from: given(first), to: given(last) })}>
      <FormRow>
        <Field label={texts.from} type="date" value={first} onChange={(event) => setFirst(event.target.value)} />
        <Field
          label={texts.to}
          type="date"
          value={last}
          min={given(first)}
          onChange={(event) => setLast(event.target.value)}
        />
      </FormRow>
      <Minor as="p">{texts.utc}</Minor>
      <Toolbar align="end">
        <Button size="sm" onClick={() => onChange({ from: undefined, to: undefined })}>
          {texts.anyDate}
        </Button>
        <Button size="sm" look="primary" type="submit">
          {texts.apply}
        </Button>
      </Toolbar>
    </Form>
  )
}

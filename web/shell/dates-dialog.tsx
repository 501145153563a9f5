import { serviceNow } from '../ui/clock.ts'
import { useState } from 'react'
import { DialogFoot } from '../forms/dialog-foot.tsx'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Field, focusFirstInvalid } from '../ui/field.tsx'
import { Form } from '../ui/form.tsx'
import { DAY_MS, zoneName } from '../ui/format.ts'
import { Minor } from '../ui/text.tsx'
import { parseDates, MAX_DAYS, wallText, type Dates } from './dates-model.ts'
import { datesTexts as texts } from './dates-texts.ts'
import { shellTexts } from './texts.ts'

type DatesDialogProps = {
  /** The dates of the address. */
  dates: Dates | null
  onChoose: (dates: Dates | null) => void
  onClose: () => void
}

/** A start and an end of one's own. Errors are shown from the first attempt on. */
export function DatesDialog({ dates, onChoose, onClose }: DatesDialogProps) {
  const [fields, setFields] = useState<Dates>(() => ({
    from: wallText(dates === null ? serviceNow() - DAY_MS : Date.parse(dates.from)),
    to: wallText(dates === null ? serviceNow() : Date.parse(dates.to)),
  }))
  const [zone] = useState(() => zoneName(serviceNow()))
  const [triedAt, setTriedAt] = useState<number | null>(null)
  const errors = triedAt === null ? {} : errorsOf(fields, triedAt)
  const submit = (form: HTMLFormElement) => {
    const now = serviceNow()
    const result = parseDates(fields, now)
    setTriedAt(now)
    if ('dates' in result) onChoose(result.dates)
    else focusFirstInvalid(form)
  }
  return (
    <Dialog open onClose={onClose} title={shellTexts.dates.title}>
      <Form onSubmit={submit}>
        <Field
          label={texts.from}
          type="datetime-local"
          value={fields.from}
          error={errors.from}
          data-autofocus
          onChange={(event) => setFields({ ...fields, from: event.target.value })}
        />
        <Field
          label={texts.to}
          type="datetime-local"
          value={fields.to}
          error={errors.to}
          onChange={(event) => setFields({ ...fields, to: event.target.value })}
        />
        <Minor as="p">{texts.hint(MAX_DAYS, zone)}</Minor>
        <DialogFoot onClose={onClose} submit={texts.show}>
          {dates === null ? null : (
            <Button look="ghost" onClick={() => onChoose(null)}>
              {texts.clear}
            </Button>
          )}
        </DialogFoot>
      </Form>
    </Dialog>
  )
}

function errorsOf(fields: Dates, now: number) {
  const result = parseDates(fields, now)
  return 'errors' in result ? result.errors : {}
}

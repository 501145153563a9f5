import { Button, IconButton } from '../../../ui/button.tsx'
import { FieldHint, FieldLegend, InputBox } from '../../../ui/field.tsx'
import fitStyles from '../../../ui/fit.module.css'
import { Icon } from '../../../ui/icon.tsx'
import { MAX_OWN_HEADERS, type HeaderDraft } from './endpoint-form.ts'
import { webhooksTexts } from './texts.ts'
import styles from './own-headers-field.module.css'
import typeStyles from '../../../ui/type.module.css'

const texts = webhooksTexts.form

type OwnHeadersFieldProps = {
  headers: readonly HeaderDraft[]
  error: string | undefined
  onChange: (headers: readonly HeaderDraft[]) => void
}

let added = 0

/** Headers that every request to the endpoint has. Stored values are not shown. */
export function OwnHeadersField({ headers, error, onChange }: OwnHeadersFieldProps) {
  const change = (key: string, part: Partial<HeaderDraft>) =>
    onChange(headers.map((header) => (header.key === key ? { ...header, ...part } : header)))
  const invalid = error === undefined ? undefined : true
  return (
    <fieldset className={fitStyles.fieldset}>
      <FieldLegend>{texts.headers}</FieldLegend>
      {headers.map((header, index) => (
        <div key={header.key} className={styles.row}>
          <InputBox>
            <input
              className={typeStyles.mono}
              aria-label={texts.headerName(index + 1)}
              aria-invalid={invalid}
              placeholder="X-Api-Key"
              value={header.name}
              maxLength={64}
              autoComplete="off"
              spellCheck={false}
              // Its stored value belongs to its name.
              readOnly={header.isStored}
              onChange={(event) => change(header.key, { name: event.target.value })}
            />
          </InputBox>
          <InputBox>
            <input
              className={typeStyles.mono}
              aria-label={texts.headerValue(index + 1)}
              aria-invalid={invalid}
              placeholder={header.isStored ? texts.stored : undefined}
              value={header.value}
              maxLength={1024}
              autoComplete="off"
              spellCheck={false}
              onChange={(event) => change(header.key, { value: event.target.value })}
            />
          </InputBox>
          <IconButton
            look="ghost"
            icon="trash"
            label={texts.removeHeader(header.name)}
            onClick={() => onChange(headers.filter(({ key }) => key !== header.key))}
          />
        </div>
      ))}
      <Button
        size="sm"
        icon="plus"
        why={headers.length >= MAX_OWN_HEADERS ? texts.headersFull : undefined}
        onClick={() => onChange([...headers, { key: `added ${++added}`, name: '', value: '', isStored: false }])}
      >
        {texts.addHeader}
      </Button>
      {error === undefined ? (
        <FieldHint>{texts.headersHint}</FieldHint>
      ) : (
        <FieldHint role="alert" bad>
          <Icon name="warn" />
          {error}
        </FieldHint>
      )}
    </fieldset>
  )
}

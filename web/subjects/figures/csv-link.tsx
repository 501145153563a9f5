import { buttonLook } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { download } from '../../app/download.ts'
import { figuresTexts } from './texts.ts'

/** Downloads a table with all its rows. */
export const CsvLink = ({ url, filename, label }: { url: string; filename: string; label: string }) => (
  <a
    {...buttonLook({ look: 'ghost', size: 'sm', square: true })}
    href={url}
    download={filename}
    aria-label={label}
    title={label}
    onClick={(event) => void download(event, { url, filename, failed: figuresTexts.csvFailed })}
  >
    <Icon name="download" />
  </a>
)

import { SecretBox } from '../../../forms/secret-box.tsx'
import { webhooksTexts } from './texts.ts'

const texts = webhooksTexts.secretBox

/** A secret that the service just answered. */
export type FreshSecret = { host: string; secret: string; isRotated: boolean }

/** Shows the signing secret of an endpoint, this once. */
export const FreshSecretBox = ({ fresh, onStored }: { fresh: FreshSecret; onStored: () => void }) => (
  <SecretBox
    title={(fresh.isRotated ? texts.titleRotated : texts.title)(fresh.host)}
    label={texts.label}
    secret={fresh.secret}
    lost={texts.lost}
    onStored={onStored}
  />
)

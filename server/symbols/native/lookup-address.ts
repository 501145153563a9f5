/** Below it are all images of iOS and of Android on arm64; bits from there up hold the signature of a pointer. */
const SMALL_SPACE = 2n ** 39n
const ADDRESS_BITS = 2n ** 48n - 1n

/**
 * The address to look up for a frame, relative to its image.
 *
 * - arm64: signatures (PAC) and tags are removed from the upper bits. How many bits an address has follows from the
 *   image: one below 2^39 has no code above it.
 * - arm: the lowest bit, which only says that the code is Thumb, is removed.
 * - A return address belongs to the instruction after the call, which may belong to another line or function. It is
 *   reduced into the call: by 4 on arm64, whose instructions have 4 bytes, by 2 on arm, and by 1 elsewhere.
 *
 * @param isReturnAddress false for the frame that was running, which is the innermost one of a crash
 * @returns undefined when the address is below the image
 */
export function lookupAddress(frame: {
  readonly instructionAddr: bigint
  readonly imageAddr: bigint
  readonly isReturnAddress: boolean
  readonly cpuName: string
}): number | undefined {
  const { cpuName, imageAddr } = frame
  const isArm64 = cpuName.startsWith('arm64') || cpuName === 'aarch64'
  const isArm = !isArm64 && cpuName.startsWith('arm')
  let address = frame.instructionAddr
  if (isArm64) address &= imageAddr < SMALL_SPACE ? SMALL_SPACE - 1n : ADDRESS_BITS
  if (isArm) address &= ~1n
  if (frame.isReturnAddress) address -= isArm64 ? 4n : isArm ? 2n : 1n
  const relative = address - imageAddr
  return relative < 0n || relative > BigInt(Number.MAX_SAFE_INTEGER) ? undefined : Number(relative)
}

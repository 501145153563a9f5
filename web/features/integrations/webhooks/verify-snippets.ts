/** Programs that verify the signature of a webhook. The dashboard and docs/webhooks.md show the same text. */
export type VerifySnippet = {
  readonly id: 'node' | 'python' | 'go' | 'ruby' | 'php'
  readonly label: string
  readonly code: string
}

const NODE = `import { createHmac, timingSafeEqual } from 'node:crypto'

/**
 * secret: the whole text, with whsec_
 * signature: the header Svc-Signature
 * rawBody: the bytes of the body as they arrived, a Buffer; never JSON that was parsed and written again
 */
export function isGenuine(secret, signature, rawBody) {
  const parts = signature.split(',').map((part) => part.split('='))
  const timestamp = parts.find(([name]) => name === 't')?.[1] ?? ''
  // Five minutes in both directions: an old request may be a copy.
  if (!/^[0-9]{1,12}$/.test(timestamp)) return false
  if (Math.abs(Date.now() / 1000 - Number(timestamp)) > 300) return false
  const expected = Buffer.from(createHmac('sha256', secret).update(timestamp + '.').update(rawBody).digest('hex'))
  // Two v1 while an old and a new secret overlap: one must match.
  return parts.some(([name, value = '']) => {
    const given = Buffer.from(value)
    return name === 'v1' && given.length === expected.length && timingSafeEqual(given, expected)
  })
}
`

const PYTHON = `import hashlib
import hmac
import re
import time


def is_genuine(secret: str, signature: str, raw_body: bytes) -> bool:
    """
    secret: the whole text, with whsec_
    signature: the header Svc-Signature
    raw_body: the bytes of the body as they arrived; never JSON that was parsed and written again
    """
    parts = [part.partition("=") for part in signature.split(",")]
    timestamp = next((value for name, _, value in parts if name == "t"), "")
    # Five minutes in both directions: an old request may be a copy.
    if not re.fullmatch("[0-9]{1,12}", timestamp) or abs(time.time() - int(timestamp)) > 300:
        return False
    signed = timestamp.encode() + b"." + raw_body
    expected = hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest().encode()
    # Two v1 while an old and a new secret overlap: one must match.
    return any(
        name == "v1" and hmac.compare_digest(value.encode("utf-8", "surrogateescape"), expected)
        for name, _, value in parts
    )
`

const GO = `package webhooks

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"time"
)

// IsGenuine verifies a webhook.
// secret: the whole text, with whsec_
// signature: the header Svc-Signature
// rawBody: the bytes of the body as they arrived; never JSON that was parsed and written again
func IsGenuine(secret, signature string, rawBody []byte) bool {
	timestamp := ""
	var given []string
	for _, part := range strings.Split(signature, ",") {
		name, value, _ := strings.Cut(part, "=")
		if name == "t" && timestamp == "" {
			timestamp = value
		} else if name == "v1" {
			given = append(given, value)
		}
	}
	seconds, err := strconv.ParseUint(timestamp, 10, 40)
	if err != nil {
		return false
	}
	// Five minutes in both directions: an old request may be a copy.
	age := time.Now().Unix() - int64(seconds)
	if age > 300 || age < -300 {
		return false
	}
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(timestamp + "."))
	mac.Write(rawBody)
	expected := []byte(hex.EncodeToString(mac.Sum(nil)))
	// Two v1 while an old and a new secret overlap: one must match.
	for _, value := range given {
		if hmac.Equal([]byte(value), expected) {
			return true
		}
	}
	return false
}
`

const RUBY = `require "openssl"

# secret: the whole text, with whsec_
# signature: the header Svc-Signature
# raw_body: the bytes of the body as they arrived; never JSON that was parsed and written again
def genuine?(secret, signature, raw_body)
  parts = signature.split(",").map { |part| part.split("=", 2) }
  timestamp = parts.find { |name, _| name == "t" }&.last.to_s
  # Five minutes in both directions: an old request may be a copy.
  return false unless timestamp.match?(/\\A[0-9]{1,12}\\z/)
  return false if (Time.now.to_i - timestamp.to_i).abs > 300

  expected = OpenSSL::HMAC.hexdigest("SHA256", secret, "#{timestamp}.".b + raw_body.b)
  # Two v1 while an old and a new secret overlap: one must match.
  parts.any? do |name, value|
    name == "v1" && value.to_s.bytesize == expected.bytesize &&
      OpenSSL.fixed_length_secure_compare(value, expected)
  end
end
`

const PHP = `<?php

/**
 * $secret: the whole text, with whsec_
 * $signature: the header Svc-Signature, $_SERVER['HTTP_SVC_SIGNATURE']
 * $rawBody: the bytes of the body as they arrived, file_get_contents('php://input');
 * never JSON that was parsed and written again
 */
function isGenuine(string $secret, string $signature, string $rawBody): bool
{
    $timestamp = '';
    $given = [];
    foreach (explode(',', $signature) as $part) {
        [$name, $value] = explode('=', $part, 2) + [1 => ''];
        if ($name === 't' && $timestamp === '') {
            $timestamp = $value;
        } elseif ($name === 'v1') {
            $given[] = $value;
        }
    }
    // Five minutes in both directions: an old request may be a copy.
    if (preg_match('/^[0-9]{1,12}$/D', $timestamp) !== 1 || abs(time() - (int) $timestamp) > 300) {
        return false;
    }
    $expected = hash_hmac('sha256', $timestamp . '.' . $rawBody, $secret);
    // Two v1 while an old and a new secret overlap: one must match.
    foreach ($given as $value) {
        if (hash_equals($expected, $value)) {
            return true;
        }
    }
    return false;
}
`

export const VERIFY_SNIPPETS: readonly VerifySnippet[] = [
  { id: 'node', label: 'Node.js', code: NODE },
  { id: 'python', label: 'Python', code: PYTHON },
  { id: 'go', label: 'Go', code: GO },
  { id: 'ruby', label: 'Ruby', code: RUBY },
  { id: 'php', label: 'PHP', code: PHP },
]

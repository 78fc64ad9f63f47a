// Keys: their text, their files, and what is refused without telling any of them.

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "trust/key_samples.h"
#include "trust/key_text.h"
#include "waybill/signature.h"

namespace waybill {
namespace {

namespace fs = std::filesystem;

const std::string kPrivate =
    "waybill-ed25519-private:nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A";
const std::string kPublic =
    "waybill-ed25519-public:11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo";

class KeyFile : public testing::Test {
 protected:
  void SetUp() override {
    // A short name: a long one might be a key, and is not shown in errors.
    folder_ = fs::temp_directory_path() / ("waybill_keys_" + std::to_string(getpid()));
    fs::remove_all(folder_);
    fs::create_directory(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string path(const char* name) const { return folder_ / name; }
  std::string write(const char* name, const std::string& text, mode_t mode) const {
    std::ofstream(path(name)) << text;
    ::chmod(path(name).c_str(), mode);
    return path(name);
  }
  static std::string read(const std::string& file) {
    std::ifstream in(file);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  fs::path folder_;
};

template <typename T>
std::string complaint_about(const Result<T>& result) {
  if (result) return "accepted";
  EXPECT_EQ(result.error().code, ErrorCode::kBadKey);
  return result.error().detail;
}

TEST(Keys, OfTextAreThoseOfTheRfc) {
  EXPECT_EQ(*SigningKey::from_text(kPrivate)->public_text(), kPublic);
}

TEST(Keys, OfTextMayHaveCommentsAndWhiteSpaceAtEnds) {
  const std::string text = "# of the build machine\n\n" + kPrivate + " \t\r\n\n#\n";

  EXPECT_EQ(complaint_about(SigningKey::from_text(text)), "accepted");
}

TEST(Keys, OfPublicAndPrivateTextHaveTheSameId) {
  EXPECT_EQ(KeyRing::from_text(kPublic)->ids()[0],
            SigningKey::from_text(kPrivate)->id());
  EXPECT_EQ(KeyRing::from_text(samples::mac_text(1))->ids()[0],
            samples::mac_key().id());
}

TEST(Keys, WithEachCharacterSpoiledAreRefusedOrOthers) {
  const SigningKey key = samples::sender_key();
  const SigningKey mac = samples::mac_key();
  for (const std::string& text : {kPrivate, kPublic, samples::mac_text(1)}) {
    for (std::size_t i = 0; i < text.size(); ++i) {
      for (const char with : {'A', 'b', '!', ' ', '\n', '\0', ':'}) {
        std::string spoiled = text;
        if (spoiled[i] == with) continue;
        spoiled[i] = with;

        const Result<SigningKey> signer = SigningKey::from_text(spoiled);
        const Result<KeyRing> ring = KeyRing::from_text(spoiled);

        const std::string at = spoiled + " at " + std::to_string(i);
        if (signer) {
          EXPECT_TRUE(signer->id() != key.id() && signer->id() != mac.id()) << at;
        }
        if (ring) {
          EXPECT_TRUE(ring->ids()[0] != key.id() && ring->ids()[0] != mac.id()) << at;
        }
      }
    }
    for (std::size_t size = 0; size < text.size(); ++size) {
      EXPECT_FALSE(SigningKey::from_text(text.substr(0, size)));
      EXPECT_FALSE(KeyRing::from_text(text.substr(0, size)));
    }
    EXPECT_FALSE(KeyRing::from_text(text + "A"));
  }
}

TEST(Keys, ErrorsTellNothingOfThem) {
  const std::string secret = kPrivate.substr(kPrivate.find(':') + 1);
  const std::string spoiled[] = {kPrivate + "A",
                                 kPrivate + " x",
                                 "x" + kPrivate,
                                 " " + kPrivate,
                                 secret,
                                 "key=" + secret,
                                 kPrivate + "\n" + secret,
                                 kPrivate + "\n" + kPrivate,
                                 "waybill-mac:" + secret.substr(1)};
  for (const std::string& text : spoiled) {
    for (const std::string& words :
         {complaint_about(SigningKey::from_text(text)),
          complaint_about(KeyRing::from_text(text)),
          complaint_about(SigningKey::from_file(text)),
          complaint_about(KeyRing::from_file(text)),
          complaint_about(SigningKey::from_environment(text)),
          complaint_about(KeyRing::from_environment(text))}) {
      for (std::size_t i = 0; i + 4 < secret.size(); ++i) {
        EXPECT_EQ(words.find(secret.substr(i, 5)), words.npos) << words;
      }
    }
  }
}

TEST(Keys, ErrorsNameTheLine) {
  EXPECT_EQ(complaint_about(KeyRing::from_text(kPublic + "\n\nsomething")),
            "line 3 of the text: a key starts with waybill-ed25519-private:, "
            "waybill-ed25519-public: or waybill-mac:");
  EXPECT_EQ(KeyRing::from_text(kPublic + "\n\nsomething").error().offset,
            kPublic.size() + 2);
}

TEST(Keys, ThatSignAreOneAndNotPublic) {
  EXPECT_EQ(complaint_about(SigningKey::from_text(kPublic)),
            "line 1 of the text: a public key signs nothing; give the private one");
  EXPECT_EQ(
      complaint_about(SigningKey::from_text(kPrivate + "\n" + kPrivate)),
      "line 2 of the text: there are several keys; give only the one that should sign");
  EXPECT_EQ(complaint_about(SigningKey::from_text("# nothing\n")),
            "there is no key in the text; a line with one starts with "
            "waybill-ed25519-private:, waybill-ed25519-public: or waybill-mac:");
}

TEST(Keys, ThatArePrivateDoNotGoIntoARingAndNothingWithThem) {
  KeyRing ring;

  const Result<void> added = ring.add_text(kPublic + "\n" + kPrivate);

  EXPECT_EQ(complaint_about(added),
            "line 2 of the text: a private key signs; a reader needs the public one");
  EXPECT_EQ(ring.size(), 0u);
}

TEST(Keys, ThatArePointsOfSmallOrderAreRefused) {
  samples::Bytes point(32, 0);
  for (const int first : {0, 1}) {
    point[0] = static_cast<std::uint8_t>(first);

    const std::string words = complaint_about(
        KeyRing::from_text("waybill-ed25519-public:" + samples::base64_of(point)));

    EXPECT_EQ(words, "line 1 of the text: these bytes are not a public key");
  }
}

TEST(Keys, OfMacsHaveNoPublicHalf) {
  EXPECT_EQ(complaint_about(samples::mac_key().public_text()),
            "a MAC key has no public half; the reader needs the key itself");
}

TEST(Keys, ThatAreGeneratedDiffer) {
  for (const auto algorithm :
       {SignatureAlgorithm::kEd25519, SignatureAlgorithm::kMac}) {
    const SigningKey key = SigningKey::generate(algorithm);

    EXPECT_EQ(key.algorithm(), algorithm);
    EXPECT_NE(key.id(), SigningKey::generate(algorithm).id());
  }
}

TEST_F(KeyFile, IsSavedForItsOwnerAloneAndReadAgain) {
  for (const auto algorithm :
       {SignatureAlgorithm::kEd25519, SignatureAlgorithm::kMac}) {
    const SigningKey key = SigningKey::generate(algorithm);
    const std::string file = path(std::string(name_of(algorithm)).c_str());

    ASSERT_TRUE(key.save(file));

    EXPECT_EQ(fs::status(file).permissions(),
              fs::perms::owner_read | fs::perms::owner_write);
    EXPECT_EQ(SigningKey::from_file(file)->id(), key.id());
  }
}

TEST_F(KeyFile, IsNeverOverwritten) {
  const std::string file = write("there", "precious", 0600);

  const Result<void> saved = samples::mac_key().save(file);

  EXPECT_EQ(complaint_about(saved),
            "the key file " + file + " exists; keys are not overwritten");
  EXPECT_EQ(read(file), "precious");
}

TEST_F(KeyFile, WithASecretIsRefusedIfOthersMayUseIt) {
  for (const std::string& text : {kPrivate, samples::mac_text(1)}) {
    for (const mode_t mode : {0601, 0602, 0604, 0610, 0620, 0640, 0644, 0666}) {
      const std::string file = write("key", text, mode);

      const std::string words = complaint_about(SigningKey::from_file(file));

      EXPECT_EQ(words, "the key file " + file +
                           " holds a secret that others may use; chmod 600 it");
      EXPECT_FALSE(KeyRing::from_file(file));
    }
  }
  for (const mode_t mode : {0600, 0400, 0700}) {
    fs::remove(path("own"));
    const std::string file = write("own", samples::mac_text(1), mode);

    EXPECT_EQ(complaint_about(SigningKey::from_file(file)), "accepted");
    EXPECT_EQ(complaint_about(KeyRing::from_file(file)), "accepted");
  }
}

TEST_F(KeyFile, WithPublicKeysMayBeReadByAll) {
  const std::string file = write("keys", kPublic + "\n", 0644);

  EXPECT_EQ(complaint_about(KeyRing::from_file(file)), "accepted");
}

TEST_F(KeyFile, OfMoreThan64KiBIsRefused) {
  const std::string most = kPrivate + std::string((64 << 10) - kPrivate.size(), '\n');
  EXPECT_TRUE(SigningKey::from_file(write("most", most, 0600)));

  const std::string file = write("more", most + "\n", 0600);

  EXPECT_EQ(complaint_about(SigningKey::from_file(file)),
            "the key file " + file + " has more than 64 KiB");
}

TEST_F(KeyFile, ThatCannotBeReadIsNamed) {
  EXPECT_EQ(complaint_about(SigningKey::from_file(path("absent"))),
            "the key file " + path("absent") +
                " cannot be opened: No such file or directory");
  EXPECT_EQ(complaint_about(SigningKey::from_file(folder_)),
            "the key file " + folder_.string() + " cannot be read: Is a directory");
}

TEST(KeyVariable, IsReadByItsName) {
  ::setenv("WAYBILL_TEST_KEYS", (kPublic + "\n" + samples::mac_text(1)).c_str(), 1);

  EXPECT_EQ(KeyRing::from_environment("WAYBILL_TEST_KEYS")->size(), 2u);
  EXPECT_EQ(complaint_about(SigningKey::from_environment("WAYBILL_TEST_KEYS")),
            "line 2 of the environment variable WAYBILL_TEST_KEYS: there are several "
            "keys; give only the one that should sign");
  ::unsetenv("WAYBILL_TEST_KEYS");
  EXPECT_EQ(complaint_about(SigningKey::from_environment("WAYBILL_TEST_KEYS")),
            "there is no environment variable WAYBILL_TEST_KEYS");
}

TEST(SecretMemory, CannotBeWrittenToOnceItIsClosed) {
  const SecretBytes bytes = envelope::make_secret(32);
  bytes[0] = 1;
  envelope::close_secret(bytes);

  EXPECT_EQ(bytes[0], 1);
  EXPECT_DEATH(bytes[0] = 2, "");
}

TEST(SecretMemory, EndsWhereItsBytesEnd) {
  const SecretBytes bytes = envelope::make_secret(32);
  const volatile std::uint8_t* start = bytes.get();

  EXPECT_DEATH((void)start[32], "");
}

}  // namespace
}  // namespace waybill
